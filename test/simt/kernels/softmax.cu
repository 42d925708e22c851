// Rows of a matrix, one block each: reductions by shuffles inside a warp and shared memory between warps.
#include <cuda_runtime.h>
#include <kerf/kernel.h>

__device__ __forceinline__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
  return v;
}
__device__ __forceinline__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
  return __shfl_sync(0xffffffff, v, 0);
}

__global__ void __launch_bounds__(256) softmax_kernel(const float* __restrict__ in, float* __restrict__ out, int cols) {
  __shared__ float partial[32], total;
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize, warps = blockDim.x / warpSize;
  const float* row = in + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
  m = warp_max(m);
  if (lane == 0) partial[warp] = m;
  __syncthreads();
  if (warp == 0) {
    m = warp_max(lane < warps ? partial[lane] : -INFINITY);
    if (lane == 0) total = m;
  }
  __syncthreads();
  m = total;
  float s = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += __expf(row[i] - m);
  s = warp_sum(s);
  __syncthreads();
  if (lane == 0) partial[warp] = s;
  __syncthreads();
  if (warp == 0) {
    s = warp_sum(lane < warps ? partial[lane] : 0.f);
    if (lane == 0) total = s;
  }
  __syncthreads();
  const float inverse = 1.f / total;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[(size_t)blockIdx.x * cols + i] = __expf(row[i] - m) * inverse;
}

KERF_KERNEL(call) {
  const DLTensor& x = call->inputs[0];
  softmax_kernel<<<x.shape[0], 256, 0, (cudaStream_t)call->stream>>>(kerf_data<const float>(x),
                                                                    kerf_data<float>(call->outputs[0]), x.shape[1]);
  return (int)cudaGetLastError();
}
