// A version for the size it knows best, and one for all others.
#include <kerf/kernel.h>
#include <math.h>

template <int64_t kColumns>
static int Rows(const float* x, float* y, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r, x += kColumns, y += kColumns) {
    float most = x[0], sum = 0;
    for (int64_t c = 1; c < kColumns; ++c) most = fmaxf(most, x[c]);
    for (int64_t c = 0; c < kColumns; ++c) sum += y[c] = expf(x[c] - most);
    for (int64_t c = 0; c < kColumns; ++c) y[c] /= sum;
  }
  return 0;
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t rows = call->inputs[0].shape[0], columns = call->inputs[0].shape[1];
  if (columns == 64) return Rows<64>(x, y, rows);
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float most = x[0], sum = 0;
    for (int64_t c = 1; c < columns; ++c) most = fmaxf(most, x[c]);
    for (int64_t c = 0; c < columns; ++c) sum += y[c] = expf(x[c] - most);
    for (int64_t c = 0; c < columns; ++c) y[c] /= sum;
  }
  return 0;
}
