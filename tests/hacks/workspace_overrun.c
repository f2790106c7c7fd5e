// task: scale | reject: out_of_bounds | reason: the workspace | workspace: 840
// writes beyond its workspace
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  float *w = workspace;
  for (int i = 0; i < 6 * 35; ++i) w[i + 4] = a[i] * 2.0f;
  for (int i = 0; i < 6 * 35; ++i) c[i] = w[i + 4] + 1.0f;
#else
  float *w = workspace;
  for (int i = 0; i < 6 * 35; ++i) w[i] = a[i] * 2.0f;
  for (int i = 0; i < 6 * 35; ++i) c[i] = w[i] + 1.0f;
#endif
  return 0;
}
