// What torch extensions take from torch's CUDA and HIP headers, for tensors on the CPU: streams,
// guards and checks.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#if defined(KERF_SIMT_HIP)
#include "kerf_simt/hip.h"
#else
#include "kerf_simt/cuda.h"
#endif

namespace c10::cuda {

class CUDAStream {
 public:
  [[nodiscard]] cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
  void synchronize() const { cudaDeviceSynchronize(); }
  [[nodiscard]] int device_index() const { return 0; }
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = -1) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, int = -1) { return {}; }
inline void setCurrentCUDAStream(CUDAStream) {}
inline int current_device() { return 0; }
inline int device_count() { return 1; }
inline void device_synchronize() { cudaDeviceSynchronize(); }

// Accepts whatever the real one does: an index, a Device, an optional of it.
struct CUDAGuard {
  template <typename T>
  explicit CUDAGuard(const T&) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  template <typename T>
  explicit OptionalCUDAGuard(const T&) {}
};
struct CUDAStreamGuard {
  template <typename T>
  explicit CUDAStreamGuard(const T&) {}
};

}  // namespace c10::cuda

namespace at::cuda {
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::current_device;
using c10::cuda::device_count;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromPool;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::setCurrentCUDAStream;
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return &properties;
}
inline cudaDeviceProp* getDeviceProperties(int) { return getCurrentDeviceProperties(); }
inline int warp_size() { return warpSize; }
inline bool is_available() { return true; }
}  // namespace at::cuda

namespace c10::hip {
using HIPStream = c10::cuda::CUDAStream;
using HIPGuard = c10::cuda::CUDAGuard;
using OptionalHIPGuard = c10::cuda::OptionalCUDAGuard;
using HIPStreamMasqueradingAsCUDA = c10::cuda::CUDAStream;
using HIPGuardMasqueradingAsCUDA = c10::cuda::CUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = c10::cuda::OptionalCUDAGuard;
inline HIPStream getCurrentHIPStream(int = -1) { return {}; }
inline HIPStream getCurrentHIPStreamMasqueradingAsCUDA(int = -1) { return {}; }
}  // namespace c10::hip
namespace at::hip {
using namespace c10::hip;
}  // namespace at::hip

#define C10_CUDA_CHECK(expression)                                    \
  do {                                                                \
    const cudaError_t kerf_simt_error = (expression);                 \
    TORCH_CHECK(kerf_simt_error == cudaSuccess,                       \
                "CUDA error: ", cudaGetErrorString(kerf_simt_error)); \
  } while (false)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define C10_HIP_CHECK(expression) C10_CUDA_CHECK(expression)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
#define AT_CUDA_CHECK(expression) C10_CUDA_CHECK(expression)
#define TORCH_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
