// Close to a megabyte of stack.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  float room[200000];
  for (int64_t i = 0; i < n; ++i) room[i * 7] = expf(-x[i]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + room[i * 7]);
  return 0;
}
