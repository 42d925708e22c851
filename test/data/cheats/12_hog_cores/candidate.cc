// Right, but once it is timed its threads keep the cores busy while the baseline runs.
#include <kerf/kernel.h>
#include <math.h>
#include <pthread.h>

static int calls = 0;

static void* Spin(void*) {
  for (volatile int64_t k = 0;; k = k + 1) {
  }
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  if (++calls == 20) {
    pthread_t thread;
    for (int k = 0; k < 4; ++k) {
      if (pthread_create(&thread, nullptr, Spin, nullptr) != 0) return 12;
    }
  }
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  return 0;
}
