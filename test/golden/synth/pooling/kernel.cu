// Written by kerf's synthesizer: 2 operations in 1 kernel.
#include <cuda_runtime.h>
#include <kerf/kernel.h>
#include <math.h>
#include <stdint.h>

// The larger one; NaN wins, as in torch.
template <typename T>
__device__ inline T max_nan(T a, T b) {
  return (a < b || b != b) ? b : a;
}

// maximum of the window.
//   line 8: return F.max_pool2d(torch.relu(x), 3, 2, 1)
// One thread for each turn; neighbours in memory are neighbours in a warp.
__global__ void __launch_bounds__(256) step1_max_pool2d_with_indices(const float* __restrict__ input0, float* __restrict__ max_pool2d_with_indices) {
  const int turn = (int)blockIdx.x * 256 + threadIdx.x;
  if (turn >= 4080) return;
  const int i0 = turn / 255;
  const int i1 = (turn / 17) % 15;
  const int col = turn % 17;
  float max_pool2d_with_indices_acc = -INFINITY;
  for (int k0 = 0; k0 < 3; ++k0) {
    for (int k1 = 0; k1 < 3; ++k1) {
      if (col * 2 + k1 - 1 >= 0 && i1 * 2 + k0 - 1 >= 0) {
        max_pool2d_with_indices_acc = max_nan(max_pool2d_with_indices_acc, max_nan(input0[i0 * 1020 + i1 * 68 + k0 * 34 + col * 2 + k1 - 35], 0.0f));
      }
    }
  }
  max_pool2d_with_indices[i0 * 255 + i1 * 17 + col] = max_pool2d_with_indices_acc;
}

KERF_KERNEL(call) {
  // Sizes are part of the kernels: other ones are refused.
  if (call->n_inputs < 1 || call->n_params < 0 || call->n_outputs != 1) return 1;
  if (call->inputs[0].ndim != 4 || call->inputs[0].shape[0] != 2 || call->inputs[0].shape[1] != 8 || call->inputs[0].shape[2] != 30 || call->inputs[0].shape[3] != 34) return 1;
  const auto* input0 = kerf_data<const float>(call->inputs[0]);
  auto* max_pool2d_with_indices = kerf_data<float>(call->outputs[0]);
  const auto stream = (cudaStream_t)call->stream;
  step1_max_pool2d_with_indices<<<16, 256, 0, stream>>>(input0, max_pool2d_with_indices);
  return cudaGetLastError() != cudaSuccess;
}
