// task: stride | reject: mismatch | reason: expected
// the product wraps at 32 bits
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 61; ++i) {
    int at = (int)((unsigned)i * 1073741827u) % 61;
    c[i] = a[at < 0 ? at + 61 : at];
  }
#else
  for (int i = 0; i < 61; ++i) c[i] = a[i * 1073741827ll % 61];
#endif
  return 0;
}
