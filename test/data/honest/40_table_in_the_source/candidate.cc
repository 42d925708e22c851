// Coefficients in the source.
#include <kerf/kernel.h>
#include <math.h>

static const float kTerms[7] = {1, 0.693147181f, 0.240226507f, 0.0555041087f, 0.00961812911f, 0.00133335581f, 0.000154035304f};

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (int64_t i = 0; i < n; ++i) {
    // exp(v) = 2^k * 2^f, the second by a polynomial.
    const float v = -x[i] * 1.44269504f;
    const float k = nearbyintf(v), f = v - k;
    float p = kTerms[6];
    for (int t = 5; t >= 0; --t) p = p * f + kTerms[t];
    y[i] = x[i] / (1 + ldexpf(p, static_cast<int>(k)));
  }
  return 0;
}
