// Measures itself.
#include <kerf/kernel.h>
#include <math.h>
#include <time.h>

static long total = 0;

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  clock_gettime(CLOCK_MONOTONIC, &end);
  total += (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec;
  return 0;
}
