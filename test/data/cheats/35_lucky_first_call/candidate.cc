// Right in its first call only.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  static int calls = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  if (++calls > 1) y[n / 2] += 0.5f;
  return 0;
}
