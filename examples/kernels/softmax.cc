// Row-wise softmax on the CPU, for examples/tasks/softmax_{torch,numpy,mindspore}.py.
#include <kerf/kernel.h>

#include <cmath>

KERF_KERNEL(call) {
  const DLTensor& tensor = call->inputs[0];
  const int64_t rows = tensor.shape[0];
  const int64_t columns = tensor.shape[1];
  const float* x = kerf_data<float>(tensor);
  float* y = kerf_data<float>(call->outputs[0]);
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float most = x[0];
    float sum = 0;
    for (int64_t i = 1; i < columns; ++i) most = std::fmax(most, x[i]);
    for (int64_t i = 0; i < columns; ++i) sum += y[i] = std::exp(x[i] - most);
    for (int64_t i = 0; i < columns; ++i) y[i] /= sum;
  }
  return 0;
}
