// Forgets to free its workspace.
#include <kerf/kernel.h>
#include <math.h>
#include <stdlib.h>

float* volatile last;

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  float* room = static_cast<float*>(malloc(n * sizeof(float)));
  for (int64_t i = 0; i < n; ++i) room[i] = expf(-x[i]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + room[i]);
  last = room;
  return 0;
}
