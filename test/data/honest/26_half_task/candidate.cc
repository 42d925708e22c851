// Half precision where the task says so, summed in float32.
#include <kerf/kernel.h>

KERF_KERNEL(call) {
  const _Float16* a = kerf_data<_Float16>(call->inputs[0]);
  const _Float16* b = kerf_data<_Float16>(call->inputs[1]);
  _Float16* c = kerf_data<_Float16>(call->outputs[0]);
  const int64_t m = call->inputs[0].shape[0], k = call->inputs[0].shape[1], n = call->inputs[1].shape[1];
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += static_cast<float>(a[i * k + l]) * static_cast<float>(b[l * n + j]);
      c[i * n + j] = static_cast<_Float16>(sum);
    }
  }
  return 0;
}
