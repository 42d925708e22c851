// Row-wise softmax in CUDA C. Without a GPU it runs on the CPU, with checks:
//   kerf verify examples/tasks/softmax_torch.py examples/kernels/softmax.cu [--backend cuda]
#include <cuda_runtime.h>
#include <kerf/kernel.h>

constexpr int kThreads = 256;

__global__ void softmax_rows(const float* __restrict__ in, float* __restrict__ out, int columns) {
  __shared__ float partial[kThreads];
  const float* a = in + blockIdx.x * columns;
  float* b = out + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, a[i]);
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += b[i] = expf(a[i] - largest);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x) b[i] /= partial[0];
}

KERF_KERNEL(call) {
  const DLTensor& x = call->inputs[0];
  const int columns = x.shape[x.ndim - 1];
  const int rows = kerf_numel(x) / columns;
  softmax_rows<<<rows, kThreads, 0, (cudaStream_t)call->stream>>>(
      kerf_data<float>(x), kerf_data<float>(call->outputs[0]), columns);
  return cudaGetLastError() != cudaSuccess;
}
