// One small kernel for each group of features. The first input chooses which, the others are its data; a kernel
// writes what it saw to the output, and the test knows what that must be.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <stdio.h>
#include <kerf/kernel.h>

#include <algorithm>
#include <vector>

namespace cg = cooperative_groups;

__constant__ float c_table[4];
__device__ int d_counter = 5;
extern __shared__ float file_scope_dynamic[];

__global__ void votes(float* out) {
  const unsigned lane = threadIdx.x;
  out[lane * 8 + 0] = __any_sync(0xffffffffu, lane == 7);
  out[lane * 8 + 1] = __all_sync(0xffffffffu, lane < 31);
  out[lane * 8 + 2] = __popc(__ballot_sync(0xffffffffu, lane % 3 == 0));
  out[lane * 8 + 3] = __reduce_add_sync(0xffffffffu, (int)lane - 10);
  out[lane * 8 + 4] = __reduce_min_sync(0xffffffffu, (int)lane - 10);
  out[lane * 8 + 5] = __popc(__match_any_sync(0xffffffffu, lane / 4));
  if (lane < 12) {
    const unsigned active = __activemask();
    out[lane * 8 + 6] = __popc(active);
    out[lane * 8 + 7] = __shfl_sync(active, (float)lane, 11);
  } else {
    out[lane * 8 + 6] = __popc(__activemask());
    out[lane * 8 + 7] = __shfl_sync(0xfffff000u, (double)lane, 31);
  }
}

__global__ void barriers(float* out) {
  const int count = __syncthreads_count(threadIdx.x % 4 == 0);
  const int any = __syncthreads_or(threadIdx.x == 63);
  const int all = __syncthreads_and(threadIdx.x < 63);
  out[threadIdx.x] = count * 100 + any * 10 + all;
}

__global__ void groups(float* out) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  int v = block.thread_rank();
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  v = tile.shfl(v, 0);
  block.sync();
  out[threadIdx.x] = v + 1000 * cg::reduce(tile, 1, cg::plus<int>()) + tile.any(tile.thread_rank() == 3);
}

__global__ void atomics(float* out, unsigned* words, double* sum) {
  atomicAdd(&out[0], 0.5f);
  atomicAdd(sum, 0.25);
  atomicMax((int*)&words[0], (int)threadIdx.x);
  atomicMin(&words[1], threadIdx.x);
  atomicInc(&words[2], 9u);
  atomicOr(&words[3], 1u << (threadIdx.x % 32));
  atomicXor(&words[4], threadIdx.x);
  // Float maximum by compare and swap, as candidates write it.
  int* as_int = (int*)&out[1];
  int old = *as_int, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf((float)threadIdx.x, __int_as_float(assumed))));
  } while (assumed != old);
  // A lock around an ordinary addition.
  while (atomicCAS(&words[5], 0u, 1u) != 0u) {
  }
  out[2] += 1.f;
  __threadfence();
  atomicExch(&words[5], 0u);
}

__global__ void half_atomics(__half2* pair, __nv_bfloat16* one) {
  atomicAdd(pair, __floats2half2_rn(1.f, 2.f));
  atomicAdd(one, __float2bfloat16(1.f));
}

__global__ void math(float* out) {
  out[0] = rsqrtf(4.f);
  out[1] = __fdividef(1.f, 8.f) + __expf(0.f) + __logf(1.f) + __powf(2.f, 3.f);
  float s, c;
  sincosf(0.f, &s, &c);
  __sincosf(0.f, &s, &c);
  out[2] = s + c;
  out[3] = normcdff(0.f);
  out[4] = __popc(0xffu) + __clz(1) + __ffs(8) + (int)(__brev(1u) >> 31);
  out[5] = __mulhi(1 << 30, 8) + __umulhi(0x80000000u, 6u);
  out[6] = min(3, 4) + max(2.5f, 1.f) + max(1u, 2u) + min(7LL, 9LL);
  out[7] = isinf(CUDART_INF_F) && isnan(CUDART_NAN_F) ? 1.f : 0.f;
  out[8] = __float2int_rn(2.5f) + __float2int_rz(-2.7f) + __float2int_ru(2.1f) + __float2int_rd(-2.1f);
  out[9] = __int_as_float(__float_as_int(1.25f)) + __saturatef(7.f) + __fmaf_rn(2.f, 3.f, 1.f);
  out[10] = erff(0.f) + tanhf(0.f) + exp2f(3.f) + fabsf(-1.f) + abs(-2) + floorf(1.5f);
  out[11] = __float2int_rz(1e20f) == 2147483647 && __float2int_rn(CUDART_NAN_F) == 0;
  out[12] = __byte_perm(0x03020100u, 0x07060504u, 0x7531u) == 0x07050301u;
  out[13] = erfinvf(erff(0.5f));
}

__global__ void memory(float* out) {
  out[threadIdx.x] = c_table[threadIdx.x] + d_counter;
  file_scope_dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[4 + threadIdx.x] = file_scope_dynamic[3 - threadIdx.x];
}

__global__ void poison(float* out) {
  __shared__ float never_written[4];
  extern __shared__ int also_not[];
  out[0] = isnan(never_written[2]);
  out[1] = also_not[1] == 0x7fffffff;
}

struct Params {
  float scale;
  int offset[3];
};
__global__ void by_value(float* out, Params p, dim3 d, float4 v) {
  p.offset[1] += threadIdx.x;  // each thread has its own copy
  out[threadIdx.x] = p.scale * p.offset[1] + d.y + v.w;
}

template <int N>
struct Unroll {
  static __device__ float sum(const float* p) { return p[N - 1] + Unroll<N - 1>::sum(p); }
};
template <>
struct Unroll<0> {
  static __device__ float sum(const float*) { return 0.f; }
};
template <typename F>
__global__ void apply(float* out, int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = f(i);
}
template <typename T>
__global__ void deduced(T* out, T value) {
  __shared__ T copies[2][3], single;
  if (threadIdx.x == 0) single = value;
  copies[threadIdx.x / 3][threadIdx.x % 3] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = single + copies[1 - threadIdx.x / 3][threadIdx.x % 3];
}

// The classic reduction of the last warp, without __syncwarp.
__device__ void last_warp(volatile float* s, unsigned tid) {
  s[tid] += s[tid + 32];
  s[tid] += s[tid + 16];
  s[tid] += s[tid + 8];
  s[tid] += s[tid + 4];
  s[tid] += s[tid + 2];
  s[tid] += s[tid + 1];
}
__global__ void warp_synchronous(float* out) {
  __shared__ float s[128];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 64) s[threadIdx.x] += s[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) last_warp(s, threadIdx.x);
  if (threadIdx.x == 0) out[0] = s[0];
}

static int run(int which, float* out, float* scratch) {
  switch (which) {
    case 0: votes<<<1, 32>>>(out); break;
    case 1: barriers<<<1, 64>>>(out); break;
    case 2: groups<<<1, 64>>>(out); break;
    case 3: atomics<<<2, 64>>>(out, (unsigned*)scratch, (double*)(scratch + 8)); break;
    case 4: math<<<1, 1>>>(out); break;
    case 5: {
      const float table[4] = {1, 2, 3, 4};
      if (cudaMemcpyToSymbol(c_table, table, sizeof(table)) != cudaSuccess) return 1;
      memory<<<1, 4, 4 * sizeof(float)>>>(out);
      break;
    }
    case 6: poison<<<2, 1, 64>>>(out); break;
    case 7: by_value<<<1, 4>>>(out, Params{2.f, {1, 2, 3}}, dim3(1, 5), make_float4(0, 0, 0, 7)); break;
    case 8: {
      float slope = 1.f;
      apply<<<2, 3>>>(out, 8, [=] __device__(int i) {
        const float pair[2] = {slope, 2.f};
        return i * Unroll<2>::sum(pair);
      });
      break;
    }
    case 9: deduced<<<1, 6>>>(out, 10.f); break;
    case 10: half_atomics<<<1, 32>>>((__half2*)out, (__nv_bfloat16*)(out + 1)); break;
    case 11: {  // events, properties, the memory functions
      cudaEvent_t a, b;
      cudaEventCreate(&a), cudaEventCreate(&b);
      cudaEventRecord(a);
      cudaEventRecord(b);
      float ms = -1.f;
      cudaEventElapsedTime(&ms, a, b);
      cudaDeviceProp p;
      cudaGetDeviceProperties(&p, 0);
      int blocks = 0;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, barriers, 256, 0);
      std::vector<float> host(4, 2.5f);
      float* device = nullptr;
      cudaMalloc((void**)&device, 16);
      cudaMemcpy(device, host.data(), 16, cudaMemcpyHostToDevice);
      cudaMemcpy(out, device, 16, cudaMemcpyDeviceToDevice);
      out[4] = ms >= 0.f;
      out[5] = p.warpSize + std::max(0, p.maxThreadsPerBlock);
      out[6] = blocks;
      out[7] = cudaFree(device) == cudaSuccess && cudaFree(out) != cudaSuccess;
      cudaGetLastError();
      cudaEventDestroy(a), cudaEventDestroy(b);
      void* args[] = {&out};
      cudaLaunchKernel(barriers, dim3(1), dim3(1), args);
      break;
    }
    case 12: warp_synchronous<<<1, 128>>>(out); break;
    default: return 1;
  }
  return cudaGetLastError();
}

KERF_KERNEL(call) {
  const int which = *kerf_data<int>(call->inputs[0]);
  return run(which, kerf_data<float>(call->outputs[0]), kerf_data<float>(call->inputs[1]));
}
