// task: update | reject: mismatch | reason: expected
// updates twice
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 90; ++i) c[i] += a[i];
#else
  for (int i = 0; i < 90; ++i) c[i] += a[i] * 0.5f;
#endif
  return 0;
}
