// A constructor starts a thread that never sleeps.
#include <kerf/kernel.h>
#include <math.h>
#include <pthread.h>

static void* Spin(void*) {
  for (volatile int64_t k = 0;; k = k + 1) {
  }
}

__attribute__((constructor)) static void Start() {
  pthread_t thread;
  pthread_create(&thread, nullptr, Spin, nullptr);
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + expf(-x[i]));
  return 0;
}
