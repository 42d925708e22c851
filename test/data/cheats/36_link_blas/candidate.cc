// Calls a library.
#include <kerf/kernel.h>

extern "C" void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  const float* weight = kerf_data<float>(call->params[0]);
  const float* bias = kerf_data<float>(call->params[1]);
  float* y = kerf_data<float>(call->outputs[0]);
  const int64_t rows = call->inputs[0].shape[0], in = call->inputs[0].shape[1], out = call->params[0].shape[0];
  cblas_sgemm(101, 111, 112, rows, out, in, 1, x, in, weight, in, 0, y, out);
  for (int64_t i = 0; i < rows * out; ++i) y[i] += bias[i % out];
  return 0;
}
