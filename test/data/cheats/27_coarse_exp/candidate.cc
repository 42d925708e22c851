// exp() by shifting bits into the exponent: within a few per cent.
#include <kerf/kernel.h>
#include <math.h>
#include <string.h>

static float Exp(float value) {
  const int32_t bits = static_cast<int32_t>(12102203 * value + 1064866805);
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + Exp(-x[i]));
  return 0;
}
