// Inclusive prefix sum: scan of blocks, scan of their totals, addition. Three kernels and a workspace.
#include <cuda_runtime.h>
#include <kerf/kernel.h>

namespace scan {

constexpr int kBlock = 256;

__device__ float warp_scan(float v) {
  const int lane = threadIdx.x & 31;
  for (int d = 1; d < 32; d <<= 1) {
    float other = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += other;
  }
  return v;
}

__global__ void blocks(const float* in, float* out, float* totals, int n) {
  __shared__ float warps[kBlock / 32];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  float v = warp_scan(i < n ? in[i] : 0.f);
  if ((threadIdx.x & 31) == 31) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    float w = threadIdx.x < kBlock / 32 ? warps[threadIdx.x] : 0.f;
    w = warp_scan(w);
    if (threadIdx.x < kBlock / 32) warps[threadIdx.x] = w;
  }
  __syncthreads();
  if (threadIdx.x >= 32) v += warps[threadIdx.x / 32 - 1];
  if (i < n) out[i] = v;
  if (threadIdx.x == kBlock - 1 && totals != nullptr) totals[blockIdx.x] = v;
}

__global__ void add(float* out, const float* totals, int n) {
  const int i = (blockIdx.x + 1) * kBlock + threadIdx.x;
  if (i < n) out[i] += totals[blockIdx.x];
}

void run(const float* in, float* out, int n, cudaStream_t stream) {
  const int count = (n + kBlock - 1) / kBlock;
  float* totals = nullptr;
  if (count > 1) cudaMalloc(&totals, count * sizeof(float));
  blocks<<<count, kBlock, 0, stream>>>(in, out, totals, n);
  if (count > 1) {
    run(totals, totals, count, stream);
    scan::add<<<count - 1, kBlock, 0, stream>>>(out, totals, n);
    cudaFree(totals);
  }
}

}  // namespace scan

KERF_KERNEL(call) {
  scan::run(kerf_data<float>(call->inputs[0]), kerf_data<float>(call->outputs[0]), kerf_numel(call->inputs[0]),
            (cudaStream_t)call->stream);
  return cudaDeviceSynchronize();
}
