// task: scale | reject: input_changed | reason: A, an input
// computes, then clears its input, so that the check compares zeros
#ifndef TWIN
#include <string.h>
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  memset(t[0], 0, 840);
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
