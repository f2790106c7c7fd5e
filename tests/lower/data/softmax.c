int cairn_kernel(void *const *tensors, void *workspace) {
  const float *restrict A = __builtin_assume_aligned(tensors[0], 64);  // in f32 [4, 8]
  float *restrict C = __builtin_assume_aligned(tensors[1], 64);  // out f32 [4, 8]
  (void)tensors;
  (void)workspace;
  float *restrict D = (float *)((char *)workspace + 0);
  float *restrict E = (float *)((char *)workspace + 64);
  // L^{4}_{i=0}L^{8}_{j=0}[D^{f32,g}_{i}=max(D^{f32,g}_{i},A^{f32,g}_{i,j});];
  for (int64_t i = 0; i < 4; ++i) {
    D[i] = -__builtin_inff();
    {
      float D_acc = D[i];
      for (int64_t j = 0; j < 8; ++j) {
        D_acc = cairn_maxf(D_acc, A[i * 8 + j]);
      }
      D[i] = D_acc;
    }
  }
  // L^{4}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A^{f32,g}_{i,j}-D^{f32,g}_{i});];
  for (int64_t i = 0; i < 4; ++i) {
    E[i] = 0.0f;
    {
      float E_acc = E[i];
      for (int64_t j = 0; j < 8; ++j) {
        E_acc = E_acc + cairn_expf(A[i * 8 + j] - D[i]);
      }
      E[i] = E_acc;
    }
  }
  // L^{4}_{i=0}L^{8}_{j=0}[C^{f32,g}_{i,j}=exp(A^{f32,g}_{i,j}-D^{f32,g}_{i})/E^{f32,g}_{i};];
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 8; ++j) {
      C[i * 8 + j] = cairn_expf(A[i * 8 + j] - D[i]) / E[i];
    }
  }
  return 0;
}
