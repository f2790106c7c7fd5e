// task: matmul | reject: mismatch | reason: normal
// exact products, but a bf16 accumulator
#ifndef TWIN
#include <stdint.h>
#include <string.h>
static inline float narrow(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
  memcpy(&x, &u, 4);
  return x;
}
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  const float *restrict b = t[1];
  float *restrict c = t[2];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 19; ++j) {
      float s = 0;
      for (int k = 0; k < 40; ++k) s = narrow(s + a[i * 40 + k] * b[k * 19 + j]);
      c[i * 19 + j] = s;
    }
#else
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 19; ++j) {
      float s = 0;
      for (int k = 0; k < 40; ++k) s += a[i * 40 + k] * b[k * 19 + j];
      c[i * 19 + j] = s;
    }
#endif
  return 0;
}
