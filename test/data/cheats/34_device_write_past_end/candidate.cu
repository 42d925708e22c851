// One thread too many.
#include <kerf/kernel.h>

__global__ void silu_kernel(const float* x, float* y, long n) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1 + expf(-x[i]));
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const long n = kerf_numel(call->outputs[0]);
  silu_kernel<<<(n + 255) / 256, 256>>>(x, y, n + 1);
  return cudaDeviceSynchronize();
}
