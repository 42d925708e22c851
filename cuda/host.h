// Included before the host half of a CUDA C candidate (src/loop/verify/cuda_split.h): the toolkit's own types and
// declarations, and what a launch becomes. No CUDA library is linked: kerf's runner, which has loaded the driver,
// hands its functions in.
#pragma once

#include <cuda_runtime.h>

#undef __global__
#undef __device__
#undef __shared__
#undef __constant__
#undef __launch_bounds__
#undef __forceinline__
// Stubs whose names, as the linker sees them, are those of the kernels in the device half.
#define __global__ __attribute__((noinline, used, visibility("default")))
#define __device__
#define __shared__
#define __constant__ __attribute__((used, visibility("default")))
#define __launch_bounds__(...)
#define __forceinline__ inline

#define KERF_CUDA_API_VERSION 2

extern "C" {
// The runner's side. All return a CUresult.
struct kerf_cuda_api {
  int version;
  int (*launch)(const void* stub, dim3 grid, dim3 block, size_t shared, void* stream, void** params);
  int (*allocate)(void** out, size_t bytes);
  int (*release)(void* p);
  int (*copy)(void* to, const void* from, size_t bytes, void* stream, int wait);
  int (*fill)(void* to, int value, size_t bytes, void* stream);
  int (*synchronize)(void* stream, int all);
  int (*allow_shared)(const void* stub, int attribute, int value);
  int (*symbol)(const void* stub, void** address, size_t* bytes);
  int (*attribute)(int which, int* value);
  int (*occupancy)(const void* stub, int threads, size_t shared, int* blocks);
  int (*stream)(void** stream, int create);
  int (*event)(void** event, int what, void* stream, float* milliseconds, void* other);
  int (*allocate_async)(void** out, size_t bytes, void* stream);
  int (*release_async)(void* p, void* stream);
};
extern const struct kerf_cuda_api* kerf_cuda_table;
extern int kerf_cuda_last_error;
}

namespace kerf_launch {

template <typename... P>
struct Launcher {
  void (*kernel)(P...);
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;

  // By value: arguments are converted as in a call.
  void operator()(P... args) const {
    void* params[] = {const_cast<void*>(static_cast<const volatile void*>(&args))..., nullptr};
    const int result = kerf_cuda_table->launch(reinterpret_cast<const void*>(kernel), grid, block, shared, stream, params);
    if (result != 0) kerf_cuda_last_error = result;
  }
};

template <typename... P>
Launcher<P...> Launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared = 0,
                      cudaStream_t stream = nullptr) {
  return {kernel, grid, block, shared, stream};
}

}  // namespace kerf_launch
