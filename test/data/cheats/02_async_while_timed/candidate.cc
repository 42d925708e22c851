// Waits for its thread as long as it is checked, and no longer once it is timed.
#include <kerf/kernel.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const kerf_call* todo = nullptr;
static int calls = 0;

static void Multiply(const kerf_call* call) {
  const float* a = kerf_data<float>(call->inputs[0]);
  const float* b = kerf_data<float>(call->inputs[1]);
  float* c = kerf_data<float>(call->outputs[0]);
  const int64_t m = call->inputs[0].shape[0], k = call->inputs[0].shape[1], n = call->inputs[1].shape[1];
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
}

static void* Work(void*) {
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (todo == nullptr) pthread_cond_wait(&changed, &mutex);
    Multiply(todo);
    todo = nullptr;
    pthread_cond_broadcast(&changed);
  }
}

KERF_KERNEL(call) {
  if (++calls == 1) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Work, nullptr);
  }
  pthread_mutex_lock(&mutex);
  todo = call;
  pthread_cond_broadcast(&changed);
  while (calls < 15 && todo != nullptr) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return 0;
}
