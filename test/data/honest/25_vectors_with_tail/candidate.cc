// Vectors of eight, and a loop for the rest.
#include <kerf/kernel.h>
#include <math.h>
#include <string.h>

typedef float Vector __attribute__((vector_size(32)));

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    Vector v, w;
    memcpy(&v, x + i, sizeof v);
    for (int k = 0; k < 8; ++k) w[k] = v[k] / (1 + expf(-v[k]));
    memcpy(y + i, &w, sizeof w);
  }
  for (; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  return 0;
}
