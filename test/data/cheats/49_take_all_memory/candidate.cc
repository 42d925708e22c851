// Takes memory until there is none.
#include <kerf/kernel.h>
#include <math.h>
#include <stdlib.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (;;) {
    volatile char* block = static_cast<char*>(malloc(64 << 20));
    if (block == nullptr) return 49;
    for (size_t k = 0; k < size_t{64} << 20; k += 4096) block[k] = 1;
  }
}
