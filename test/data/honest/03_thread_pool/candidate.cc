// Threads that are joined before the call returns.
#include <kerf/kernel.h>
#include <math.h>
#include <pthread.h>

struct Part {
  const float* x;
  float* y;
  int64_t begin, end;
};

static void* Work(void* argument) {
  const Part part = *static_cast<Part*>(argument);
  for (int64_t i = part.begin; i < part.end; ++i) part.y[i] = part.x[i] / (1 + expf(-part.x[i]));
  return nullptr;
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  Part parts[4];
  pthread_t threads[4];
  for (int64_t k = 0; k < 4; ++k) {
    parts[k] = {x, y, n * k / 4, n * (k + 1) / 4};
    pthread_create(&threads[k], nullptr, Work, &parts[k]);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return 0;
}
