// A workspace that is allocated once and grows.
#include <kerf/kernel.h>
#include <math.h>
#include <stdlib.h>

static float* room = nullptr;
static int64_t size = 0;

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  if (size < n) {
    free(room);
    room = static_cast<float*>(malloc(n * sizeof(float)));
    size = n;
  }
  for (int64_t i = 0; i < n; ++i) room[i] = expf(-x[i]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + room[i]);
  return 0;
}
