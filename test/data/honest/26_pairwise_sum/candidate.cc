// Sixteen float32 sums side by side, then added in pairs.
#include <kerf/kernel.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t rows = call->inputs[0].shape[0], columns = call->inputs[0].shape[1];
  for (int64_t r = 0; r < rows; ++r, x += columns) {
    float sums[16] = {};
    for (int64_t c = 0; c < columns; ++c) sums[c % 16] += x[c];
    for (int step = 8; step > 0; step /= 2) {
      for (int k = 0; k < step; ++k) sums[k] += sums[k + step];
    }
    y[r] = sums[0];
  }
  return 0;
}
