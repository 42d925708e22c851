// A workspace from mmap().
#include <kerf/kernel.h>
#include <math.h>
#include <sys/mman.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  const size_t bytes = n * sizeof(float);
  float* room = static_cast<float*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (room == MAP_FAILED) return 1;
  for (int64_t i = 0; i < n; ++i) room[i] = expf(-x[i]);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / (1 + room[i]);
  munmap(room, bytes);
  return 0;
}
