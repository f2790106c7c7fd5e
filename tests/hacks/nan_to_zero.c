// task: scale | reject: mismatch | reason: expected nan
// turns what is not a number into a harmless one
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 6 * 35; ++i) {
    float x = a[i] * 2.0f + 1.0f;
    c[i] = x == x ? x : 0;
  }
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
