// 64 bins: atomics in shared memory, then in global memory, in a grid-stride loop.
#include <cuda_runtime.h>
#include <kerf/kernel.h>

constexpr int kBins = 64;

__global__ void histogram_kernel(const float* x, int* bins, int n) {
  __shared__ int local[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = min(kBins - 1, max(0, (int)((x[i] + 2.f) * 16.f)));
    atomicAdd(&local[bin], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) {
    if (local[i] != 0) atomicAdd(bins + i, local[i]);
  }
}

KERF_KERNEL(call) {
  int* bins = kerf_data<int>(call->outputs[0]);
  cudaMemsetAsync(bins, 0, kBins * sizeof(int), (cudaStream_t)call->stream);
  histogram_kernel<<<8, 192>>>(kerf_data<float>(call->inputs[0]), bins, (int)kerf_numel(call->inputs[0]));
  return cudaGetLastError();
}
