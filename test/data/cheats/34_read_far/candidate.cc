// Reads far beyond its input.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  float sum = 0;
  for (int64_t i = 0; i < 4096; ++i) sum += x[n + i];
  if (sum == 3) y[0] = 1;
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  return 0;
}
