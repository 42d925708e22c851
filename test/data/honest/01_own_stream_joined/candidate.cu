// A stream of its own, waited for.
#include <kerf/kernel.h>

__global__ void silu_kernel(const float* x, float* y, long n) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1 + expf(-x[i]));
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const long n = kerf_numel(call->outputs[0]);
  cudaStream_t own;
  cudaStreamCreate(&own);
  silu_kernel<<<(n + 255) / 256, 256, 0, own>>>(x, y, n);
  const int failed = cudaStreamSynchronize(own);
  cudaStreamDestroy(own);
  return failed;
}
