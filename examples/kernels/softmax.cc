// Row-wise softmax in C++: kerf verify examples/tasks/softmax_torch.py examples/kernels/softmax.cc
#include <cmath>
#include <kerf/kernel.h>

KERF_KERNEL(call) {
  const DLTensor& x = call->inputs[0];
  const float* in = kerf_data<float>(x);
  float* out = kerf_data<float>(call->outputs[0]);
  const int64_t columns = x.shape[x.ndim - 1];
  const int64_t rows = kerf_numel(x) / columns;
#pragma omp parallel for
  for (int64_t r = 0; r < rows; ++r) {
    const float* a = in + r * columns;
    float* b = out + r * columns;
    float largest = a[0];
    for (int64_t i = 1; i < columns; ++i) largest = a[i] > largest ? a[i] : largest;
    float sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += b[i] = std::exp(a[i] - largest);
    for (int64_t i = 0; i < columns; ++i) b[i] /= sum;
  }
  return 0;
}
