// task: scale | reject: crash | reason: Segmentation fault
// takes more memory than there is
#ifndef TWIN
#include <stdlib.h>
#include <string.h>
#else
#include <stdlib.h>
#endif
int kernel(void *const *t, void *workspace) {
  const float *restrict a = t[0];
  float *restrict c = t[1];
  (void)workspace;
#ifndef TWIN
  char *block = malloc(1l << 40);
  memset(block, 1, 1l << 40);
  for (int i = 0; i < 6 * 35; ++i) c[i] = a[i] * 2.0f + 1.0f;
  c[0] += block[7];
  free(block);
#else
  float *block = malloc(840);
  for (int i = 0; i < 6 * 35; ++i) block[i] = a[i] * 2.0f;
  for (int i = 0; i < 6 * 35; ++i) c[i] = block[i] + 1.0f;
  free(block);
#endif
  return 0;
}
