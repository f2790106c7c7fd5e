// task: scale | reject: crash | reason: Segmentation fault
// recursion without an end
#ifndef TWIN
static __attribute__((noinline)) float deep(float x, int n) {
  volatile float block[1024];
  block[n & 1023] = x;
  return n == 0 ? x : deep(x, n + 1) + block[0];
}
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  c[0] = deep(c[0], 1);
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
