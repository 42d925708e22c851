// Rows in dynamic shared memory, cut by hand into a row and the reduction's scratch; reads as float4.
#include <cuda_runtime.h>
#include <kerf/kernel.h>

template <typename Op>
__device__ float block_reduce(float v, float* scratch, Op op) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] = op(scratch[threadIdx.x], scratch[threadIdx.x + s]);
    __syncthreads();
  }
  float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                          float* __restrict__ y, int cols, float eps) {
  extern __shared__ __align__(16) float smem[];
  float* row = smem;
  float* scratch = row + cols;
  const float4* source = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * cols);
  for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) reinterpret_cast<float4*>(smem)[i] = source[i];
  __syncthreads();
  auto add = [] __device__(float a, float b) { return a + b; };
  float sum = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  const float mean = block_reduce(sum, scratch, add) / cols;
  float squares = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) squares = fmaf(row[i] - mean, row[i] - mean, squares);
  const float scale = rsqrtf(block_reduce(squares, scratch, add) / cols + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float v = (row[i] - mean) * scale;
    if (gamma != nullptr) v = v * __ldg(&gamma[i]) + __ldg(&beta[i]);
    y[(size_t)blockIdx.x * cols + i] = v;
  }
}

KERF_KERNEL(call) {
  const DLTensor& x = call->inputs[0];
  const int rows = x.shape[0], cols = x.shape[1], threads = 128;
  const size_t bytes = (cols + threads) * sizeof(float);
  layernorm<<<rows, threads, bytes, (cudaStream_t)call->stream>>>(kerf_data<float>(x), NULL, NULL,
                                                                  kerf_data<float>(call->outputs[0]), cols, 1e-5f);
  return cudaGetLastError();
}
