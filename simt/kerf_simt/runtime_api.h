// The part of the CUDA runtime that candidates use. Every call is finished when it returns: streams
// and events keep their order by that alone.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "kerf_simt/error.h"
#include "kerf_simt/launch.h"
#include "kerf_simt/runtime.h"

#define CUDA_VERSION 12040
#define CUDART_VERSION 12040
#define CUDART_CB
#define cudaStreamLegacy (static_cast<cudaStream_t>(nullptr))
#define cudaStreamPerThread (static_cast<cudaStream_t>(nullptr))

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaMemAttachGlobal = 1
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

// The limits are those the emulator enforces; the rest describes a device of the same class.
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  size_t sharedMemPerBlockOptin;
  size_t sharedMemPerMultiprocessor;
  int regsPerBlock;
  int regsPerMultiprocessor;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int maxThreadsPerMultiProcessor;
  int maxBlocksPerMultiProcessor;
  int l2CacheSize;
  int concurrentKernels;
  int cooperativeLaunch;
  char gcnArchName[256];
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int binaryVersion;
  int maxDynamicSharedSizeBytes;
};

struct CUstream_st {
  int unused;
};
struct CUevent_st {
  int64_t nanoseconds;
};

#define KERF_SIMT_API inline cudaError_t

namespace kerf_simt {
KERF_SIMT_INLINE cudaError_t Error(int e) { return static_cast<cudaError_t>(e); }
}  // namespace kerf_simt

KERF_SIMT_API cudaGetLastError() { return kerf_simt::Error(kerf_simt::TakeError(true)); }
KERF_SIMT_API cudaPeekAtLastError() { return kerf_simt::Error(kerf_simt::TakeError(false)); }
inline const char* cudaGetErrorString(cudaError_t e) { return kerf_simt::ErrorText(e); }
inline const char* cudaGetErrorName(cudaError_t e) { return kerf_simt::ErrorName(e); }
KERF_SIMT_API cudaDeviceSynchronize() { return kerf_simt::Error(kerf_simt::TakeError(false)); }
KERF_SIMT_API cudaDeviceReset() { return cudaSuccess; }
KERF_SIMT_API cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : kerf_simt::Error(kerf_simt::SetError(cudaErrorInvalidDevice));
}
KERF_SIMT_API cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
KERF_SIMT_API cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  memset(p, 0, sizeof(*p));
  strcpy(p->name, "kerf simt (emulated)");
  strcpy(p->gcnArchName, "gfx942");
  p->totalGlobalMem = size_t{1} << 34;
  p->warpSize = warpSize;
  p->sharedMemPerBlock = warpSize == 64 ? 64 * 1024 : 48 * 1024;
  p->sharedMemPerBlockOptin = warpSize == 64 ? 64 * 1024 : 227 * 1024;
  p->sharedMemPerMultiprocessor = warpSize == 64 ? 64 * 1024 : 228 * 1024;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = warpSize == 64 ? 1024 : 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->clockRate = 1000000;
  p->memoryClockRate = 1000000;
  p->memoryBusWidth = 4096;
  p->totalConstMem = 65536;
  p->major = 9;
  p->multiProcessorCount = 4;  // few, so that kernels sized by it stay small
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->l2CacheSize = 32 << 20;
  p->concurrentKernels = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrClockRate:
      *value = p.clockRate;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    default:
      *value = 0;
      break;
  }
  return cudaSuccess;
}

// Memory.
template <typename T>
KERF_SIMT_API cudaMalloc(T** p, size_t bytes) {
  void* raw = nullptr;
  int e = kerf_simt::Allocate(&raw, bytes);
  if (e == 0) *p = static_cast<T*>(raw);
  return kerf_simt::Error(e);
}
template <typename T>
KERF_SIMT_API cudaMallocAsync(T** p, size_t bytes, cudaStream_t = nullptr) {
  return cudaMalloc(p, bytes);
}
template <typename T>
KERF_SIMT_API cudaMallocManaged(T** p, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return cudaMalloc(p, bytes);
}
template <typename T>
KERF_SIMT_API cudaMallocHost(T** p, size_t bytes, unsigned = 0) {
  return cudaMalloc(p, bytes);
}
template <typename T>
KERF_SIMT_API cudaHostAlloc(T** p, size_t bytes, unsigned = 0) {
  return cudaMalloc(p, bytes);
}
KERF_SIMT_API cudaFree(void* p) { return kerf_simt::Error(kerf_simt::Release(p)); }
KERF_SIMT_API cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
KERF_SIMT_API cudaFreeHost(void* p) { return cudaFree(p); }
KERF_SIMT_API cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind) {
  memmove(to, from, n);
  return cudaSuccess;
}
KERF_SIMT_API cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind,
                              cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, n, kind);
}
KERF_SIMT_API cudaMemset(void* p, int value, size_t n) {
  memset(p, value, n);
  return cudaSuccess;
}
KERF_SIMT_API cudaMemsetAsync(void* p, int value, size_t n, cudaStream_t = nullptr) {
  return cudaMemset(p, value, n);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind) {
  for (size_t y = 0; y < height; ++y) {
    memmove(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
            width);
  }
  return cudaSuccess;
}
KERF_SIMT_API cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *free_bytes = *total = size_t{1} << 34;
  return cudaSuccess;
}
template <typename T>
KERF_SIMT_API cudaMemcpyToSymbol(const T& symbol, const void* from, size_t n, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + n > sizeof(T)) return kerf_simt::Error(kerf_simt::SetError(cudaErrorInvalidValue));
  memcpy(reinterpret_cast<char*>(const_cast<T*>(&symbol)) + offset, from, n);
  return cudaSuccess;
}
template <typename T>
KERF_SIMT_API cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t n,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                      cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, n, offset, kind);
}
template <typename T>
KERF_SIMT_API cudaMemcpyFromSymbol(void* to, const T& symbol, size_t n, size_t offset = 0,
                                   cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + n > sizeof(T)) return kerf_simt::Error(kerf_simt::SetError(cudaErrorInvalidValue));
  memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, n);
  return cudaSuccess;
}
template <typename T>
KERF_SIMT_API cudaGetSymbolAddress(void** p, const T& symbol) {
  *p = const_cast<T*>(&symbol);
  return cudaSuccess;
}

// Streams and events.
KERF_SIMT_API cudaStreamCreate(cudaStream_t* s) {
  *s = new CUstream_st{};
  return cudaSuccess;
}
KERF_SIMT_API cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return cudaStreamCreate(s); }
KERF_SIMT_API cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) {
  return cudaStreamCreate(s);
}
KERF_SIMT_API cudaStreamDestroy(cudaStream_t s) {
  delete s;
  return cudaSuccess;
}
KERF_SIMT_API cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
KERF_SIMT_API cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
KERF_SIMT_API cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
KERF_SIMT_API cudaEventCreate(cudaEvent_t* e) {
  *e = new CUevent_st{};
  return cudaSuccess;
}
KERF_SIMT_API cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
KERF_SIMT_API cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
KERF_SIMT_API cudaEventRecord(cudaEvent_t e, cudaStream_t = nullptr) {
  e->nanoseconds = kerf_simt::ClockNanoseconds();
  return cudaSuccess;
}
KERF_SIMT_API cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
KERF_SIMT_API cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
KERF_SIMT_API cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = static_cast<float>(static_cast<double>(to->nanoseconds - from->nanoseconds) * 1e-6);
  return cudaSuccess;
}

// Kernels as values. The text of the call tells for which kernel an attribute is: a macro, to have
// it.
#define cudaFuncSetAttribute(...) (::kerf_simt::FuncSetAttribute(#__VA_ARGS__, __VA_ARGS__))
#define hipFuncSetAttribute(...) (::kerf_simt::FuncSetAttribute(#__VA_ARGS__, __VA_ARGS__))
namespace kerf_simt {
template <typename F>
inline cudaError_t FuncSetAttribute(const char* call, F, cudaFuncAttribute attribute,
                                    long long value) {
  return Error(AllowDynamicShared(call, attribute, value));
}

// Threads of a multiprocessor, and its shared memory, limit how many blocks it holds.
inline int BlocksPerMultiprocessor(int block, size_t bytes) {
  if (block <= 0 || block > 1024) return 0;
  int by_threads = 2048 / ((block + warpSize - 1) / warpSize * warpSize);
  int by_memory = bytes == 0 ? 32 : static_cast<int>(228 * 1024 / (bytes + 1024));
  int blocks = by_threads < by_memory ? by_threads : by_memory;
  return blocks < 32 ? blocks : 32;
}
}  // namespace kerf_simt

template <typename F>
KERF_SIMT_API cudaFuncSetCacheConfig(F, cudaFuncCache) {
  return cudaSuccess;
}
template <typename F>
KERF_SIMT_API cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) {
  return cudaSuccess;
}
KERF_SIMT_API cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
KERF_SIMT_API cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
template <typename F>
KERF_SIMT_API cudaFuncGetAttributes(cudaFuncAttributes* a, F) {
  memset(a, 0, sizeof(*a));
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->binaryVersion = 90;
  return cudaSuccess;
}
template <typename F>
KERF_SIMT_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int block,
                                                            size_t bytes) {
  *blocks = kerf_simt::BlocksPerMultiprocessor(block, bytes);
  return cudaSuccess;
}
template <typename F>
KERF_SIMT_API cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block, F, size_t = 0,
                                                 int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  *min_grid = 4 * (2048 / *block);
  return cudaSuccess;
}

template <typename... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** args,
                                    size_t bytes = 0, cudaStream_t stream = nullptr,
                                    int line = __builtin_LINE()) {
  void** at = args;
  kerf_simt::Kernel<void (*)(P...)> launch("cudaLaunchKernel", kernel, line);
  launch.Config(grid, block, bytes, stream);
  // Braces: the arguments are read from left to right.
  struct Runner {
    kerf_simt::Kernel<void (*)(P...)>& k;
    Runner(kerf_simt::Kernel<void (*)(P...)>& kernel_ref, P... values) : k(kernel_ref) {
      k.Run(values...);
    }
  } runner{launch, *static_cast<P*>(*at++)...};
  (void)runner;
  return cudaPeekAtLastError();
}
inline cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t = 0,
                                    cudaStream_t = nullptr)
    __attribute__((
        unavailable("simt: cudaLaunchKernel needs the kernel itself, not a void* to it")));
template <typename F>
inline cudaError_t cudaLaunchCooperativeKernel(F, dim3, dim3, void**, size_t = 0,
                                               cudaStream_t = nullptr) {
  static_assert(sizeof(F) == 0, "simt: cooperative launches (grid-wide barriers) are not emulated");
  return cudaErrorNotSupported;
}
#undef KERF_SIMT_API
