// task: scale | reject: crash | reason: Floating point
// integer division by zero
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  volatile int zero = 0;
  c[0] += (float)(7 / zero);
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
