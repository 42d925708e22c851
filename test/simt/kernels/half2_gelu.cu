// y = gelu(x * w + b) on half2; the last element alone.
#include <cuda_fp16.h>
#include <kerf/kernel.h>

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.f + erff(x * 0.70710678f)); }

__global__ void gelu_half2(const __half* __restrict__ x, __half* __restrict__ y, int n) {
  const __half2 w = __float2half2_rn(1.5f), b = __floats2half2_rn(0.25f, 0.25f);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    __half2 v = __hfma2(reinterpret_cast<const __half2*>(x)[i], w, b);
    float2 f = __half22float2(v);
    reinterpret_cast<__half2*>(y)[i] = __floats2half2_rn(gelu(f.x), gelu(f.y));
  } else if (2 * i < n) {
    y[2 * i] = __float2half(gelu(__half2float(__hfma(x[2 * i], __low2half(w), __high2half(b)))));
  }
}

KERF_KERNEL(call) {
  const int n = kerf_numel(call->inputs[0]);
  gelu_half2<<<(n / 2 + 256) / 256, 256>>>(kerf_data<__half>(call->inputs[0]), kerf_data<__half>(call->outputs[0]), n);
  return cudaGetLastError();
}
