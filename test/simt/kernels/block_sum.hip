// HIP: wavefronts of 64, shuffles without a mask, float4 arithmetic, hipLaunchKernelGGL.
#include <hip/hip_runtime.h>
#include <kerf/kernel.h>

__device__ float wave_sum(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down(v, offset);
  return v;
}

template <int BLOCK>
__global__ void block_sum(const float* in, float* out, int n) {
  __shared__ float partial[BLOCK / 64];
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (int i = hipThreadIdx_x; i < n / 4; i += BLOCK) {
    __builtin_assume(i >= 0);
    sum += reinterpret_cast<const float4*>(in)[i] * 2.0f;
  }
  float v = wave_sum(sum.x + sum.y + sum.z + sum.w);
  if (threadIdx.x % 64 == 0) partial[threadIdx.x / 64] = v;
  __syncthreads();
  if (threadIdx.x < 64) {
    v = threadIdx.x < BLOCK / 64 ? partial[threadIdx.x] : 0.f;
    v = wave_sum(v);
    unsigned long long votes = __ballot(threadIdx.x % 2 == 0);
    if (threadIdx.x == 0) {
      out[0] = v * __builtin_amdgcn_rcpf(1.0f);
      out[1] = (float)__popcll(votes);
    }
  }
}

KERF_KERNEL(call) {
  hipLaunchKernelGGL(HIP_KERNEL_NAME(block_sum<256>), dim3(1), dim3(256), 0, (hipStream_t)call->stream,
                     kerf_data<float>(call->inputs[0]), kerf_data<float>(call->outputs[0]),
                     (int)kerf_numel(call->inputs[0]));
  return hipGetLastError() == hipSuccess ? 0 : 1;
}
