// One thread for each element, and nothing else.
#include <kerf/kernel.h>

__global__ void relu_kernel(const float* x, float* y, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.f ? x[i] : 0.f;
}

KERF_KERNEL(call) {
  long n = kerf_numel(call->inputs[0]);
  relu_kernel<<<(n + 255) / 256, 256>>>(kerf_data<float>(call->inputs[0]), kerf_data<float>(call->outputs[0]), n);
  return cudaDeviceSynchronize();
}
