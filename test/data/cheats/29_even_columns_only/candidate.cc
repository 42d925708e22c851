// Vectors of two without a tail: right for every size shown, all of which are even.
#include <kerf/kernel.h>
#include <math.h>

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t rows = call->inputs[0].shape[0], columns = call->inputs[0].shape[1];
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float most = x[0], sum = 0;
    for (int64_t c = 1; c < columns; ++c) most = fmaxf(most, x[c]);
    for (int64_t c = 0; c < columns; ++c) sum += y[c] = expf(x[c] - most);
    for (int64_t c = 0; c + 2 <= columns; c += 2) y[c] /= sum, y[c + 1] /= sum;
  }
  return 0;
}
