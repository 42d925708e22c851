// Two threads add to the same sums without locking; a barrier makes the loss certain.
#include <kerf/kernel.h>
#include <math.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static const float* x;
static float* y;
static int64_t n;

static void* Add(void* half) {
  for (int64_t i = 0; i < n; ++i) {
    const volatile float before = y[i];
    if (i == n / 2) pthread_barrier_wait(&barrier);
    const float read = before;
    if (i == n / 2) pthread_barrier_wait(&barrier);
    y[i] = read + x[i] / (1 + expf(-x[i])) * (half == nullptr ? 0.25f : 0.75f);
  }
  return nullptr;
}

KERF_KERNEL(call) {
  x = kerf_data<float>(call->inputs[0]);
  y = kerf_data<float>(call->outputs[0]);
  n = kerf_numel(call->outputs[0]);
  for (int64_t i = 0; i < n; ++i) y[i] = 0;
  pthread_barrier_init(&barrier, nullptr, 2);
  pthread_t threads[2];
  for (int64_t k = 0; k < 2; ++k) pthread_create(&threads[k], nullptr, Add, reinterpret_cast<void*>(k));
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return 0;
}
