// task: scale | reject: unwritten | reason: never written
// writes nothing and hopes that the buffer still holds somebody's result
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  (void)a, (void)c;
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
