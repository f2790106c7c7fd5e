// task: scale | reject: refused | reason: on loading
// code that runs before anybody calls it
#ifndef TWIN
static int early;
__attribute__((constructor)) static void prepare(void) { early = 0; }
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  c[0] += (float)early;
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
