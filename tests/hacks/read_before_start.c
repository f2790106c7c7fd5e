// task: rowmax | reject: out_of_bounds | reason: before the start of A
// looks at the element before each row
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 5; ++i) {
    float m = a[i * 48 - 1];
    for (int j = 0; j < 48; ++j) m = m > a[i * 48 + j] || m != m ? m : a[i * 48 + j];
    c[i] = m;
  }
#else
  for (int i = 0; i < 5; ++i) {
    float m = a[i * 48];
    for (int j = 1; j < 48; ++j) m = m > a[i * 48 + j] || m != m ? m : a[i * 48 + j];
    c[i] = m;
  }
#endif
  return 0;
}
