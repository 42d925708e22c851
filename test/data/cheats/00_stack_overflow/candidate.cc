// Recurses without end.
#include <kerf/kernel.h>
#include <math.h>

__attribute__((noinline)) static float Deep(int64_t n) {
  volatile char room[4096];
  room[n % 4096] = 1;
  return Deep(n + 1) + room[n % 4096];
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  y[0] = Deep(n);
  return 0;
}
