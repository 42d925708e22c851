// A constructor that prepares a constant.
#include <kerf/kernel.h>
#include <math.h>

static float one;
__attribute__((constructor)) static void Prepare() { one = 1; }

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (one + expf(-x[i]));
  return 0;
}
