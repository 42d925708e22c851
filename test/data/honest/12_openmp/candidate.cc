// OpenMP threads.
#include <kerf/kernel.h>

KERF_KERNEL(call) {
  const float* a = kerf_data<float>(call->inputs[0]);
  const float* b = kerf_data<float>(call->inputs[1]);
  float* c = kerf_data<float>(call->outputs[0]);
  const int64_t m = call->inputs[0].shape[0], k = call->inputs[0].shape[1], n = call->inputs[1].shape[1];
  (void)0;
#pragma omp parallel for num_threads(call->threads)
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return 0;
}
