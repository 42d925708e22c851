// C = A B by tiles in shared memory, a template over the tile's size.
#include <cuda_runtime.h>
#include <kerf/kernel.h>

template <typename T, int TILE>
__global__ void matmul_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k) {
  __shared__ T tile_a[TILE][TILE + 1];
  __shared__ T tile_b[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  T sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    const int ka = t * TILE + threadIdx.x;
    const int kb = t * TILE + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = (row < m && ka < k) ? a[row * k + ka] : T(0);
    tile_b[threadIdx.y][threadIdx.x] = (kb < k && col < n) ? b[kb * n + col] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

KERF_KERNEL(call) {
  const DLTensor& a = call->inputs[0];
  const DLTensor& b = call->inputs[1];
  const int m = a.shape[0], k = a.shape[1], n = b.shape[1];
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<float, 16><<<grid, block, 0, static_cast<cudaStream_t>(call->stream)>>>(
      kerf_data<float>(a), kerf_data<float>(b),
      kerf_data<float>(call->outputs[0]), m, n, k);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
