int cairn_kernel(void *const *tensors, void *workspace) {
  const float *restrict A = __builtin_assume_aligned(tensors[0], 64);  // in f32 [64, 48]
  const float *restrict C = __builtin_assume_aligned(tensors[1], 64);  // in f32 [48, 80]
  float *restrict D = __builtin_assume_aligned(tensors[2], 64);  // out f32 [64, 80]
  (void)tensors;
  (void)workspace;
  // L^{64}_{i=0}L^{80}_{j=0}L^{48}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];
  for (int64_t i = 0; i < 64; ++i) {
    for (int64_t j = 0; j < 80; ++j) {
      D[i * 80 + j] = 0.0f;
      {
        float D_acc = D[i * 80 + j];
        for (int64_t k = 0; k < 48; ++k) {
          D_acc = D_acc + A[i * 48 + k] * C[k * 80 + j];
        }
        D[i * 80 + j] = D_acc;
      }
    }
  }
  return 0;
}
