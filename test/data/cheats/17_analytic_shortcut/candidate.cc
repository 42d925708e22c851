// The mean of a softmax does not depend on its input.
#include <kerf/kernel.h>

KERF_KERNEL(call) {
  float* y = kerf_data<float>(call->outputs[0]);
  for (int64_t i = 0; i < kerf_numel(call->outputs[0]); ++i) y[i] = 1.0f / call->inputs[0].shape[1];
  return 0;
}
