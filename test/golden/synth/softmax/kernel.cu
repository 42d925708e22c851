// Written by kerf's synthesizer: 1 operation in 1 kernel.
#include <cuda_runtime.h>
#include <kerf/kernel.h>
#include <math.h>
#include <stdint.h>

// The larger one; NaN wins, as in torch.
template <typename T>
__device__ inline T max_nan(T a, T b) {
  return (a < b || b != b) ? b : a;
}

// Neighbouring elements that are read or written at once.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T at[kCount];
};
template <int kCount, typename T>
__device__ inline Pack<T, kCount> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}
template <int kCount, typename T>
__device__ inline void store_pack(T* to, const Pack<T, kCount>& pack) {
  *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
}

// Joins one value of each of kLanes neighbouring lanes; all of them get the result.
template <int kLanes, typename T, typename Join>
__device__ inline T warp_join(T value, Join join) {
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = join(value, (T)__shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

// Joins one value of each thread of the block; all of them get the result. `parts` has a place for
// each warp.
template <int kThreads, typename T, typename Join>
__device__ inline T block_join(T value, T* parts, Join join) {
  constexpr int kWarps = kThreads / 32;
  value = warp_join<32>(value, join);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = warp_join<kWarps>(parts[threadIdx.x % kWarps], join);
  __syncthreads();
  return value;
}

// maximum, exp(x - maximum), sum of exponentials, inverse sum, softmax.
//   line 8: return torch.softmax(x, dim=1)
// One block of 128 threads for each row.
// Each thread keeps its part of the row in registers: memory is read once.
__global__ void __launch_bounds__(128) step1_softmax(const float* __restrict__ input0, float* __restrict__ softmax) {
  const int rank = threadIdx.x;
  const int turn = blockIdx.x;
  const int row = turn;
  float exp_x_maximum_kept[4];
  float input0_kept[4];
  // maximum
  float maximum_acc = -INFINITY;
#pragma unroll
  for (int step = 0; step < 1; ++step) {
    const int col0 = rank * 4 + step * 512;
    const auto input0_read = load_pack<4>(input0 + row * 512 + col0);
#pragma unroll
    for (int v = 0; v < 4; ++v) input0_kept[step * 4 + v] = input0_read.at[v];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int col = col0 + v;
      maximum_acc = max_nan(maximum_acc, input0_kept[step * 4 + v]);
    }
  }
  __shared__ float maximum_parts[4];
  maximum_acc = block_join<128>(maximum_acc, maximum_parts, [](float a, float b) { return max_nan(a, b); });
  const float maximum = maximum_acc;
  // exp(x - maximum), sum of exponentials
  float sum_of_exponentials_acc = 0.0f;
#pragma unroll
  for (int step = 0; step < 1; ++step) {
    const int col0 = rank * 4 + step * 512;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int col = col0 + v;
      const float exp_x_maximum_now = expf(input0_kept[step * 4 + v] - maximum);
      exp_x_maximum_kept[step * 4 + v] = exp_x_maximum_now;
      sum_of_exponentials_acc += exp_x_maximum_now;
    }
  }
  __shared__ double sum_of_exponentials_parts[4];
  const double sum_of_exponentials_acc_all = block_join<128>((double)sum_of_exponentials_acc, sum_of_exponentials_parts, [](double a, double b) { return a + b; });
  const float sum_of_exponentials = (float)sum_of_exponentials_acc_all;
  // inverse sum
  const float inverse_sum = 1.0f / sum_of_exponentials;
  // softmax
#pragma unroll
  for (int step = 0; step < 1; ++step) {
    const int col0 = rank * 4 + step * 512;
    Pack<float, 4> softmax_out;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int col = col0 + v;
      softmax_out.at[v] = exp_x_maximum_kept[step * 4 + v] * inverse_sum;
    }
    store_pack(softmax + row * 512 + col0, softmax_out);
  }
}

KERF_KERNEL(call) {
  // Sizes are part of the kernels: other ones are refused.
  if (call->n_inputs < 1 || call->n_params < 0 || call->n_outputs != 1) return 1;
  if (call->inputs[0].ndim != 2 || call->inputs[0].shape[0] != 64 || call->inputs[0].shape[1] != 512) return 1;
  const auto* input0 = kerf_data<const float>(call->inputs[0]);
  auto* softmax = kerf_data<float>(call->outputs[0]);
  const auto stream = (cudaStream_t)call->stream;
  if (((uintptr_t)input0 | (uintptr_t)softmax) % 16 != 0) return 1;
  step1_softmax<<<64, 128, 0, stream>>>(input0, softmax);
  return cudaGetLastError() != cudaSuccess;
}
