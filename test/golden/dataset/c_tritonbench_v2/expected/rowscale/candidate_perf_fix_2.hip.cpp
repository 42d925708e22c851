#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}
torch::Tensor kernel_function(torch::Tensor x) {
  k<<<1, 64>>>(x.data_ptr<float>(), x.numel());
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("kernel_function", &kernel_function); }
