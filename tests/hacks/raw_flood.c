// task: scale | reject: crash | reason: printed more than
// prints for ever by the bare system call
#ifndef TWIN
static long raw_call(long number, long x, long y, long z) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(x), "S"(y), "d"(z) : "rcx", "r11", "memory");
  return result;
}
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  static const char text[1024] = "flood";
  for (;;) raw_call(1, 2, (long)text, sizeof text);
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
