// The part of the CUDA runtime API that candidates use around their kernels, over the driver functions that kerf's
// runner hands in. What is not here does not link, and the candidate is built with nvcc instead.
#include "host.h"

#include <cstring>

#define KERF_EXPORT __attribute__((visibility("default")))

extern "C" {

const kerf_cuda_api* kerf_cuda_table = nullptr;
int kerf_cuda_last_error = 0;

KERF_EXPORT int kerf_cuda_bind(const kerf_cuda_api* api) {
  if (api->version != KERF_CUDA_API_VERSION) return 1;
  kerf_cuda_table = api;
  return 0;
}

// An error the candidate did not ask about.
KERF_EXPORT int kerf_cuda_take_error() {
  const int error = kerf_cuda_last_error;
  kerf_cuda_last_error = 0;
  return error;
}
}

namespace {

// Driver and runtime share their error numbers since CUDA 11.
cudaError_t Keep(int result) {
  if (result != 0) kerf_cuda_last_error = result;
  return static_cast<cudaError_t>(result);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** p, size_t bytes) { return Keep(kerf_cuda_table->allocate(p, bytes)); }
cudaError_t cudaFree(void* p) { return p == nullptr ? cudaSuccess : Keep(kerf_cuda_table->release(p)); }
cudaError_t cudaMallocAsync(void** p, size_t bytes, cudaStream_t stream) {
  return Keep(kerf_cuda_table->allocate_async(p, bytes, stream));
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  return p == nullptr ? cudaSuccess : Keep(kerf_cuda_table->release_async(p, stream));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return Keep(kerf_cuda_table->copy(to, from, bytes, nullptr, 1));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return Keep(kerf_cuda_table->copy(to, from, bytes, stream, 0));
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return Keep(kerf_cuda_table->fill(to, value, bytes, nullptr));
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return Keep(kerf_cuda_table->fill(to, value, bytes, stream));
}
cudaError_t cudaDeviceSynchronize() { return Keep(kerf_cuda_table->synchronize(nullptr, 1)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return Keep(kerf_cuda_table->synchronize(stream, 0)); }
cudaError_t cudaGetLastError() {
  const int error = kerf_cuda_last_error;
  kerf_cuda_last_error = 0;
  return static_cast<cudaError_t>(error);
}
cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(kerf_cuda_last_error); }
const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "CUDA error"; }
const char* cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "cudaError"; }
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : Keep(cudaErrorInvalidDevice); }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  return Keep(kerf_cuda_table->attribute(static_cast<int>(attribute), value));
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  const auto ask = [](cudaDeviceAttr which) {
    int value = 0;
    kerf_cuda_table->attribute(static_cast<int>(which), &value);
    return value;
  };
  properties->multiProcessorCount = ask(cudaDevAttrMultiProcessorCount);
  properties->maxThreadsPerBlock = ask(cudaDevAttrMaxThreadsPerBlock);
  properties->maxThreadsPerMultiProcessor = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  properties->sharedMemPerBlock = static_cast<size_t>(ask(cudaDevAttrMaxSharedMemoryPerBlock));
  properties->sharedMemPerBlockOptin = static_cast<size_t>(ask(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  properties->sharedMemPerMultiprocessor = static_cast<size_t>(ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  properties->regsPerBlock = ask(cudaDevAttrMaxRegistersPerBlock);
  properties->warpSize = ask(cudaDevAttrWarpSize);
  properties->major = ask(cudaDevAttrComputeCapabilityMajor);
  properties->minor = ask(cudaDevAttrComputeCapabilityMinor);
  properties->l2CacheSize = ask(cudaDevAttrL2CacheSize);
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  return Keep(kerf_cuda_table->allow_shared(stub, static_cast<int>(attribute), value));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub, int threads, size_t shared) {
  return Keep(kerf_cuda_table->occupancy(stub, threads, shared, blocks));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub, int threads,
                                                                   size_t shared, unsigned) {
  return Keep(kerf_cuda_table->occupancy(stub, threads, shared, blocks));
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind) {
  void* at = nullptr;
  size_t room = 0;
  const int found = kerf_cuda_table->symbol(symbol, &at, &room);
  if (found != 0) return Keep(found);
  if (offset + bytes > room) return Keep(cudaErrorInvalidValue);
  return Keep(kerf_cuda_table->copy(static_cast<char*>(at) + offset, from, bytes, nullptr, 1));
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return Keep(kerf_cuda_table->stream(reinterpret_cast<void**>(stream), 1));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  void* own = stream;
  return Keep(kerf_cuda_table->stream(&own, 0));
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return Keep(kerf_cuda_table->event(reinterpret_cast<void**>(event), 0, nullptr, nullptr, nullptr));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  void* own = event;
  return Keep(kerf_cuda_table->event(&own, 1, stream, nullptr, nullptr));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  void* own = event;
  return Keep(kerf_cuda_table->event(&own, 2, nullptr, nullptr, nullptr));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  void* own = begin;
  return Keep(kerf_cuda_table->event(&own, 3, nullptr, milliseconds, end));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  void* own = event;
  return Keep(kerf_cuda_table->event(&own, 4, nullptr, nullptr, nullptr));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  void* own = event;
  return Keep(kerf_cuda_table->event(&own, 5, stream, nullptr, nullptr));
}
}
