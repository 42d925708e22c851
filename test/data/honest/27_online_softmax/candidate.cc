// Softmax with a running maximum.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t rows = call->inputs[0].shape[0], columns = call->inputs[0].shape[1];
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      const float next = fmaxf(most, x[c]);
      sum = sum * expf(most - next) + expf(x[c] - next);
      most = next;
    }
    for (int64_t c = 0; c < columns; ++c) y[c] = expf(x[c] - most) / sum;
  }
  return 0;
}
