// softmax(Q K^T / sqrt(d)) V with an online softmax: one block for 16 queries, tiles of 16 keys. Inputs Q, K, V are
// [tokens, 32]. More than 48 KB of shared memory is asked for, to use cudaFuncSetAttribute.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <kerf/kernel.h>

template <int D, int Q, int K>
__global__ void attention(const float* q, const float* k, const float* v, float* out, int tokens, float scale) {
  extern __shared__ float shared[];
  float* sq = shared;
  float* sk = sq + Q * D;
  float* sv = sk + K * D;
  float* scores = sv + K * D;
  const int query = blockIdx.x * Q + threadIdx.y;
  for (int d = threadIdx.x; d < D; d += blockDim.x) sq[threadIdx.y * D + d] = query < tokens ? q[query * D + d] : 0.f;
  float m = -CUDART_INF_F, l = 0.f, acc[D / 16] = {};
  for (int start = 0; start < tokens; start += K) {
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
      const int key = start + threadIdx.y;
      sk[threadIdx.y * D + d] = key < tokens ? k[key * D + d] : 0.f;
      sv[threadIdx.y * D + d] = key < tokens ? v[key * D + d] : 0.f;
    }
    __syncthreads();
    float s = 0.f;
    for (int d = 0; d < D; ++d) s += sq[threadIdx.y * D + d] * sk[threadIdx.x * D + d];
    scores[threadIdx.y * K + threadIdx.x] = start + threadIdx.x < tokens ? s * scale : -CUDART_INF_F;
    __syncthreads();
    float top = m;
    for (int j = 0; j < K; ++j) top = fmaxf(top, scores[threadIdx.y * K + j]);
    const float keep = __expf(m - top);
    l *= keep;
    for (int c = 0; c < D / 16; ++c) acc[c] *= keep;
    for (int j = 0; j < K; ++j) {
      const float p = __expf(scores[threadIdx.y * K + j] - top);
      l += p;
      for (int c = 0; c < D / 16; ++c) acc[c] += p * sv[j * D + threadIdx.x + c * 16];
    }
    m = top;
    __syncthreads();
  }
  if (query < tokens)
    for (int c = 0; c < D / 16; ++c) out[query * D + threadIdx.x + c * 16] = __fdividef(acc[c], l);
}

KERF_KERNEL(call) {
  const int tokens = call->inputs[0].shape[0];
  auto launch = [&](auto kernel) -> cudaError_t {
    const size_t bytes = 60 * 1024;
    cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (e != cudaSuccess) return e;
    kernel<<<(tokens + 15) / 16, dim3(16, 16), bytes>>>(kerf_data<float>(call->inputs[0]),
                                                        kerf_data<float>(call->inputs[1]),
                                                        kerf_data<float>(call->inputs[2]),
                                                        kerf_data<float>(call->outputs[0]), tokens, rsqrtf(32.f));
    return cudaGetLastError();
  };
  return launch(attention<32, 16, 16>);
}
