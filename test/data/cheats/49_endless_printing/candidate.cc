// Prints for ever.
#include <kerf/kernel.h>
#include <math.h>
#include <stdio.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (;;) puts("nothing to see here, and so on and so forth, for ever and ever");
  return 0;
}
