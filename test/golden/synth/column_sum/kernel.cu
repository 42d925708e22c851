// Written by kerf's synthesizer: 2 operations in 1 kernel.
#include <cuda_runtime.h>
#include <kerf/kernel.h>
#include <math.h>
#include <stdint.h>

// Joins the values of the threads of one column of the block; all of them get the result.
template <int kRows, typename T, typename Join>
__device__ inline T column_join(T value, T (*parts)[32], Join join) {
  parts[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  for (int half = kRows / 2; half > 0; half /= 2) {
    if (threadIdx.y < half)
      parts[threadIdx.y][threadIdx.x] =
          join(parts[threadIdx.y][threadIdx.x], parts[threadIdx.y + half][threadIdx.x]);
    __syncthreads();
  }
  value = parts[0][threadIdx.x];
  __syncthreads();
  return value;
}

// sum.
//   line 8: return torch.sum(x * x, dim=1)
// A block has 32 neighbouring columns, so that reads are coalesced; 32 threads share each of them.
__global__ void __launch_bounds__(1024) step1_sum(const float* __restrict__ input0, float* __restrict__ sum_) {
  const int rank = threadIdx.y;
  // Columns beyond the last one repeat it, so that all threads meet at barriers.
  const int here = (int)blockIdx.x * 32 + threadIdx.x;
  const int turn = here < 160 ? here : 159;
  const int row = turn / 40;
  const int col = turn % 40;
  float sum__acc = 0.0f;
  for (int k = rank; k < 300; k += 32) {
    const float v0 = input0[row * 12000 + k * 40 + col];
    sum__acc += v0 * v0;
  }
  __shared__ double sum__parts[32][32];
  const double sum__acc_all = column_join<32>((double)sum__acc, sum__parts, [](double a, double b) { return a + b; });
  if (rank == 0) sum_[row * 40 + col] = (float)sum__acc_all;
}

KERF_KERNEL(call) {
  // Sizes are part of the kernels: other ones are refused.
  if (call->n_inputs < 1 || call->n_params < 0 || call->n_outputs != 1) return 1;
  if (call->inputs[0].ndim != 3 || call->inputs[0].shape[0] != 4 || call->inputs[0].shape[1] != 300 || call->inputs[0].shape[2] != 40) return 1;
  const auto* input0 = kerf_data<const float>(call->inputs[0]);
  auto* sum_ = kerf_data<float>(call->outputs[0]);
  const auto stream = (cudaStream_t)call->stream;
  step1_sum<<<5, dim3(32, 32), 0, stream>>>(input0, sum_);
  return cudaGetLastError() != cudaSuccess;
}
