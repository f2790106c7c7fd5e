// task: scale | reject: refused | reason: calls pthread_create
// a thread finishes the work after the return
#ifndef TWIN
#include <pthread.h>
static void *later(void *p) {
  void *const *t = p;
  const float *a = t[0];
  float *c = t[1];
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  return 0;
}
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  pthread_t thread;
  static void *const *kept;
  kept = t;
  (void)a, (void)c;
  return pthread_create(&thread, 0, later, (void *)kept);
#else
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
#endif
  return 0;
}
