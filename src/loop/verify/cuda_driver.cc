#include "loop/verify/cuda_driver.h"

#include <dlfcn.h>

namespace kerf::verify {
namespace {

template <typename F>
bool Find(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(::dlsym(library, name));
  return out != nullptr;
}

}  // namespace

std::string CudaDriver::Open(int device) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::string("the NVIDIA driver is not there: ") + ::dlerror();
  // Names with _v2 are those the toolkit's headers map the plain ones to since CUDA 3.2.
  const bool found = Find(library, "cuInit", Init) && Find(library, "cuDeviceGet", DeviceGet) &&
                     Find(library, "cuDeviceGetAttribute", DeviceGetAttribute) &&
                     Find(library, "cuDevicePrimaryCtxRetain", DevicePrimaryCtxRetain) &&
                     Find(library, "cuCtxSetCurrent", CtxSetCurrent) &&
                     Find(library, "cuCtxSynchronize", CtxSynchronize) &&
                     Find(library, "cuModuleLoadData", ModuleLoadData) &&
                     Find(library, "cuModuleGetFunction", ModuleGetFunction) &&
                     Find(library, "cuModuleGetGlobal_v2", ModuleGetGlobal) &&
                     Find(library, "cuLaunchKernel", LaunchKernel) &&
                     Find(library, "cuFuncSetAttribute", FuncSetAttribute) &&
                     Find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                          OccupancyMaxActiveBlocksPerMultiprocessor) &&
                     Find(library, "cuMemAlloc_v2", MemAlloc) &&
                     Find(library, "cuMemFree_v2", MemFree) && Find(library, "cuMemcpy", Memcpy) &&
                     Find(library, "cuMemcpyAsync", MemcpyAsync) &&
                     Find(library, "cuMemsetD8Async", MemsetD8Async) &&
                     Find(library, "cuStreamCreate", StreamCreate) &&
                     Find(library, "cuStreamDestroy_v2", StreamDestroy) &&
                     Find(library, "cuStreamSynchronize", StreamSynchronize) &&
                     Find(library, "cuStreamWaitEvent", StreamWaitEvent) &&
                     Find(library, "cuEventCreate", EventCreate) &&
                     Find(library, "cuEventDestroy_v2", EventDestroy) &&
                     Find(library, "cuEventRecord", EventRecord) &&
                     Find(library, "cuEventSynchronize", EventSynchronize) &&
                     Find(library, "cuEventElapsedTime", EventElapsedTime) &&
                     Find(library, "cuGetErrorString", GetErrorString);
  if (!found) return "the NVIDIA driver is too old: it lacks a function kerf needs";
  int handle = 0;
  Handle context = nullptr;
  Result result = Init(0);
  if (result == 0) result = DeviceGet(&handle, device);
  if (result == 0) result = DevicePrimaryCtxRetain(&context, handle);
  if (result == 0) result = CtxSetCurrent(context);
  if (result == 0) OpenPool(library, handle);
  return result == 0 ? "" : "the GPU cannot be used: " + ErrorText(result);
}

// Without this the pool gives its memory back to the system at every synchronization, and a
// temporary of a candidate costs more than its kernels.
void CudaDriver::OpenPool(void* library, int device) {
  constexpr int kReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
  const bool found = Find(library, "cuMemAllocAsync", MemAllocAsync) &&
                     Find(library, "cuMemFreeAsync", MemFreeAsync) &&
                     Find(library, "cuDeviceGetDefaultMemPool", DeviceGetDefaultMemPool) &&
                     Find(library, "cuMemPoolSetAttribute", MemPoolSetAttribute);
  Handle pool = nullptr;
  uint64_t keep = ~uint64_t{0};
  const bool works = found && DeviceGetDefaultMemPool(&pool, device) == 0 &&
                     MemPoolSetAttribute(pool, kReleaseThreshold, &keep) == 0;
  if (!works) MemAllocAsync = nullptr;
}

std::string CudaDriver::ErrorText(Result result) const {
  const char* text = nullptr;
  if (GetErrorString != nullptr) GetErrorString(result, &text);
  return (text == nullptr ? "CUDA error" : std::string(text)) + " (" + std::to_string(result) + ")";
}

}  // namespace kerf::verify
