// task: scale | reject: input_changed | reason: A, an input
// works in place on its input
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  float *x = t[0];
  for (int i = 0; i < 6 * 35; ++i) x[i] *= 2.0f;
  for (int i = 0; i < 6 * 35; ++i) c[i] = x[i] + 1.0f;
  (void)a;
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
