// One wrong kernel for each thing the emulator reports. The first input chooses; the lines marked with a name are the
// ones the reports must point to.
#undef NDEBUG
#include <assert.h>
#include <cuda_runtime.h>
#include <kerf/kernel.h>

__global__ void past_the_end(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 1.f;  // one too many
}

__global__ void divergent(float* out) {
  if (threadIdx.x < 16) {
    __syncthreads();  // line: branch
  } else {
    __syncthreads();  // line: other
  }
  out[threadIdx.x] = 0.f;
}

__global__ void early_exit(float* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = threadIdx.x;
  __syncthreads();  // line: exit
  out[threadIdx.x] += 1.f;
}

__global__ void reduction(float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = 1.f;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  // line: race
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s[0];
}

__global__ void write_race(float* out) {
  __shared__ int winner;
  winner = threadIdx.x;  // line: writers
  __syncthreads();
  out[0] = winner;
}

__global__ void overwrite(float* out) {
  extern __shared__ float buffer[];
  float* half_of_it = buffer + blockDim.x;
  half_of_it[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = half_of_it[blockDim.x - 1 - threadIdx.x];  // line: pointer
}

__global__ void no_race(float* out) {
  __shared__ float s[64];
  __shared__ bool found;
  volatile __shared__ float v[64];
  if (threadIdx.x == 0) found = false;
  s[threadIdx.x] = threadIdx.x;
  v[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (s[threadIdx.x] > 10.f) found = true;  // all write the same
  __syncthreads();
  float other = s[threadIdx.x ^ 1];
  __syncwarp();
  s[threadIdx.x] = other;  // ordered by the warp
  __syncwarp();
  out[threadIdx.x] = found ? s[threadIdx.x ^ 1] : -1.f;
}

__global__ void shared_index(float* out, int i) {
  __shared__ float tile[8][9];
  tile[threadIdx.x][i] = 1.f;  // line: index
  out[0] = tile[0][0];
}

__global__ void dynamic_index(float* out, int i) {
  extern __shared__ float dyn[];
  dyn[i] = 1.f;
  float* p = dyn;
  p[i] = 2.f;
  out[0] = dyn[0];
}

__global__ void dynamic_pointer(float* p_out, int i) {
  extern __shared__ float dyn[];
  auto write = [](float* p, int at) { p[at] = 1.f; };
  write(dyn, i);
  p_out[0] = dyn[0];
}

__global__ void missing_lane(float* out) {
  float v = threadIdx.x;
  v += __shfl_down_sync(0xffffffffu, v, 16);  // line: lane
  out[threadIdx.x] = v;
}

__global__ void stuck(float* out) {
  if (threadIdx.x < 31) __syncwarp();  // line: warp
  __syncthreads();
  out[threadIdx.x] = 0.f;
}

__global__ void too_much_static(float* out) {
  __shared__ float big[100][128];
  big[threadIdx.x][0] = 0.f;
  out[0] = big[0][0];
}

__global__ void asserts(float* out, int n) {
  assert(n > 100);
  out[0] = n;
}

__global__ void divides(int* out) {
  volatile int zero = 0;  // unknown to the optimizer, which may do as it likes with a visible one
  out[0] = 7 / zero;
}

__device__ float deep(int n, float* keep) {
  volatile float local[1000];
  local[n % 1000] = n;
  return n == 0 ? 0.f : deep(n - 1, keep) + local[n % 1000];
}
__global__ void overflows(float* out) { out[0] = deep(1000000, out); }

__global__ void spins(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void plain(float* out) { out[threadIdx.x] = 1.f; }

KERF_KERNEL(call) {
  const int which = *kerf_data<int>(call->inputs[0]);
  float* out = kerf_data<float>(call->outputs[0]);
  const int n = kerf_numel(call->outputs[0]);
  switch (which) {
    case 0: past_the_end<<<(n + 32) / 32, 32>>>(out, n); break;
    case 1: divergent<<<2, 32>>>(out); break;
    case 2: early_exit<<<1, 64>>>(out, 40); break;
    case 3: reduction<<<1, 64>>>(out); break;
    case 4: write_race<<<1, 64>>>(out); break;
    case 5: overwrite<<<1, 64, 128 * sizeof(float)>>>(out); break;
    case 6: no_race<<<1, 64>>>(out); break;
    case 7: shared_index<<<1, 8>>>(out, 72); break;
    case 8: shared_index<<<1, 4>>>(out, 9); break;
    case 9: dynamic_index<<<1, 1, 64>>>(out, 16); break;
    case 10: dynamic_pointer<<<1, 1, 64>>>(out, 16); break;
    case 11: missing_lane<<<1, 24>>>(out); break;
    case 12: stuck<<<1, 32>>>(out); break;
    case 13: too_much_static<<<1, 1>>>(out); break;
    case 14: asserts<<<1, 1>>>(out, 3); break;
    case 15: divides<<<1, 1>>>((int*)out); break;
    case 16: overflows<<<1, 1>>>(out); break;
    case 17: spins<<<1, 1>>>((int*)out); break;
    case 18: plain<<<1, 2048>>>(out); break;
    case 19: plain<<<0, 32>>>(out); break;
    case 20: plain<<<dim3(1, 70000), 32>>>(out); break;
    case 21: plain<<<1, 32, 50 * 1024>>>(out); break;
    case 22: {
      float* volatile nothing = nullptr;
      plain<<<1, 32>>>(nothing);
      break;
    }
    case 23: {  // an error must not stick, a fault must
      plain<<<1, 2048>>>(out);
      if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 50;
      if (cudaGetLastError() != cudaSuccess) return 51;
      divergent<<<1, 32>>>(out);
      if (cudaGetLastError() != cudaErrorLaunchFailure) return 52;
      return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 53;
    }
    default: return 99;
  }
  return cudaGetLastError();
}
