int cairn_kernel(void *const *tensors, void *workspace) {
  const float *restrict A = __builtin_assume_aligned(tensors[0], 64);  // in f32 [1000, 16]
  float *restrict D = __builtin_assume_aligned(tensors[1], 64);  // out f32 []
  float *restrict E = __builtin_assume_aligned(tensors[2], 64);  // out f32 [16]
  (void)tensors;
  (void)workspace;
  // P^{1000}_{i=0}L^{16}_{j=0}[D^{f32,g}=D^{f32,g}+A^{f32,g}_{i,j};E^{f32,g}_{j}=max(E^{f32,g}_{j},A^{f32,g}_{i,j});];
  D[0] = 0.0f;
  for (int64_t j = 0; j < 16; ++j) {
    E[j] = -__builtin_inff();
  }
  #pragma omp parallel for schedule(static) num_threads(2)
  for (int64_t chunk = 0; chunk < 32; ++chunk) {
    float *restrict D_part = (float *)((char *)workspace + 0 + chunk * 64);
    for (int64_t e = 0; e < 1; ++e) D_part[e] = 0.0f;
    float *restrict E_part = (float *)((char *)workspace + 2048 + chunk * 64);
    for (int64_t e = 0; e < 16; ++e) E_part[e] = -__builtin_inff();
    for (int64_t i = chunk * 1000 / 32; i < (chunk + 1) * 1000 / 32; ++i) {
      {
        float D_part_acc = D_part[0];
        for (int64_t j = 0; j < 16; ++j) {
          D_part_acc = D_part_acc + A[i * 16 + j];
          E_part[j] = cairn_maxf(E_part[j], A[i * 16 + j]);
        }
        D_part[0] = D_part_acc;
      }
    }
  }
  for (int64_t chunk = 0; chunk < 32; ++chunk) {
    const float *restrict D_part = (const float *)((char *)workspace + 0 + chunk * 64);
    for (int64_t e = 0; e < 1; ++e) {
      D[e] = D[e] + D_part[e];
    }
    const float *restrict E_part = (const float *)((char *)workspace + 2048 + chunk * 64);
    for (int64_t e = 0; e < 16; ++e) {
      E[e] = cairn_maxf(E[e], E_part[e]);
    }
  }
  return 0;
}
