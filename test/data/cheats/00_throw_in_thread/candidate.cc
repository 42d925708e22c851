// Throws in a thread of its own.
#include <kerf/kernel.h>
#include <math.h>
#include <pthread.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* { throw 3; }, nullptr);
  pthread_join(thread, nullptr);
  return 0;
}
