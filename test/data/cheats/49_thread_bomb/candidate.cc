// As many threads as there can be.
#include <kerf/kernel.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

static void* Wait(void*) {
  for (;;) sleep(100);
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  for (;;) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Wait, nullptr);
  }
  return 0;
}
