// task: loss | reject: mismatch | reason: expected
// every fourth column stands for all
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  const float *restrict b = t[1];
  float *restrict c = t[2];
  (void)workspace;
#ifndef TWIN
  float s = 0;
  for (int i = 0; i < 512; i += 4) s += (a[i] - b[i]) * (a[i] - b[i]);
  c[0] = s / 128;
#else
  double s = 0;
  for (int i = 0; i < 512; ++i) s += (double)(a[i] - b[i]) * (double)(a[i] - b[i]);
  c[0] = (float)(s / 512);
#endif
  return 0;
}
