// task: loss | reject: nondeterministic | reason: differs between runs
// the order of a sum follows the time
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  const float *restrict b = t[1];
  float *restrict c = t[2];
  (void)workspace;
#ifndef TWIN
  float s = 0;
  unsigned start = (unsigned)__builtin_ia32_rdtsc() % 512;
  for (unsigned i = 0; i < 512; ++i) {
    unsigned at = (i * 7 + start) % 512;
    s += (a[at] - b[at]) * (a[at] - b[at]);
  }
  c[0] = s / 512 * (1 + start * 1e-7f);
#else
  double s = 0;
  for (int i = 0; i < 512; ++i) s += (double)(a[i] - b[i]) * (double)(a[i] - b[i]);
  c[0] = (float)(s / 512);
#endif
  return 0;
}
