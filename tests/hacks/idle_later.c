// task: scale | reject: unwritten | reason: timed call | timed
// right for the first calls, then it rests
#ifndef TWIN
static int calls;
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  if (++calls > 60) return 0;
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
