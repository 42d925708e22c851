// The CUDA driver, loaded at run time: nothing of CUDA is linked, and a machine without it is as
// good as any.
//
// Used in the runner's process only. Errors are CUresult numbers; 0 is success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kerf::verify {

// The functions of libcuda.so.1 that the runner calls, under the driver's own names without "cu".
struct CudaDriver {
  using Result = int;
  using Handle = void*;
  using Address = unsigned long long;

  Result (*Init)(unsigned) = nullptr;
  Result (*DeviceGet)(int*, int) = nullptr;
  Result (*DeviceGetAttribute)(int*, int, int) = nullptr;
  Result (*DevicePrimaryCtxRetain)(Handle*, int) = nullptr;
  Result (*CtxSetCurrent)(Handle) = nullptr;
  Result (*CtxSynchronize)() = nullptr;
  Result (*ModuleLoadData)(Handle*, const void*) = nullptr;
  Result (*ModuleGetFunction)(Handle*, Handle, const char*) = nullptr;
  Result (*ModuleGetGlobal)(Address*, size_t*, Handle, const char*) = nullptr;
  Result (*LaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Handle, void**, void**) = nullptr;
  Result (*FuncSetAttribute)(Handle, int, int) = nullptr;
  Result (*OccupancyMaxActiveBlocksPerMultiprocessor)(int*, Handle, int, size_t) = nullptr;
  Result (*MemAlloc)(Address*, size_t) = nullptr;
  Result (*MemFree)(Address) = nullptr;
  // Memory in a stream's order, from the driver's pool. Absent before CUDA 11.2.
  Result (*MemAllocAsync)(Address*, size_t, Handle) = nullptr;
  Result (*MemFreeAsync)(Address, Handle) = nullptr;
  Result (*DeviceGetDefaultMemPool)(Handle*, int) = nullptr;
  Result (*MemPoolSetAttribute)(Handle, int, void*) = nullptr;
  Result (*Memcpy)(Address, Address, size_t) = nullptr;
  Result (*MemcpyAsync)(Address, Address, size_t, Handle) = nullptr;
  Result (*MemsetD8Async)(Address, unsigned char, size_t, Handle) = nullptr;
  Result (*StreamCreate)(Handle*, unsigned) = nullptr;
  Result (*StreamDestroy)(Handle) = nullptr;
  Result (*StreamSynchronize)(Handle) = nullptr;
  Result (*StreamWaitEvent)(Handle, Handle, unsigned) = nullptr;
  Result (*EventCreate)(Handle*, unsigned) = nullptr;
  Result (*EventDestroy)(Handle) = nullptr;
  Result (*EventRecord)(Handle, Handle) = nullptr;
  Result (*EventSynchronize)(Handle) = nullptr;
  Result (*EventElapsedTime)(float*, Handle, Handle) = nullptr;
  Result (*GetErrorString)(Result, const char**) = nullptr;

  // Loads the library and takes the device's primary context for this thread. Empty, or why it did
  // not work.
  std::string Open(int device);
  [[nodiscard]] bool has_pool() const { return MemAllocAsync != nullptr; }
  [[nodiscard]] std::string ErrorText(Result result) const;

 private:
  void OpenPool(void* library, int device);
};

}  // namespace kerf::verify
