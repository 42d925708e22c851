#include "loop/verify/cuda_runner.h"

#include <dlfcn.h>
#include <sys/random.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

namespace kerf::verify {
namespace {

// As cuda/host.h declares it.
struct Dim3 {
  unsigned x, y, z;
};
struct Api {
  int version;
  int (*launch)(const void*, Dim3, Dim3, size_t, void*, void**);
  int (*allocate)(void**, size_t);
  int (*release)(void*);
  int (*copy)(void*, const void*, size_t, void*, int);
  int (*fill)(void*, int, size_t, void*);
  int (*synchronize)(void*, int);
  int (*allow_shared)(const void*, int, int);
  int (*symbol)(const void*, void**, size_t*);
  int (*attribute)(int, int*);
  int (*occupancy)(const void*, int, size_t, int*);
  int (*stream)(void**, int);
  int (*event)(void**, int, void*, float*, void*);
  int (*allocate_async)(void**, size_t, void*);
  int (*release_async)(void*, void*);
};

constexpr int kInvalidSymbol =
    13;  // CUDA_ERROR_NOT_FOUND's runtime counterpart: cudaErrorInvalidSymbol
CudaRunner* own = nullptr;
std::map<const void*, CudaDriver::Handle> loaded_functions;

CudaDriver::Address At(const void* p) { return reinterpret_cast<CudaDriver::Address>(p); }

// The stub's name, as the linker sees it, is the kernel's name in the device code.
const char* NameOf(const void* stub) {
  Dl_info info{};
  return ::dladdr(stub, &info) != 0 && info.dli_saddr == stub ? info.dli_sname : nullptr;
}

int FindFunction(const void* stub, CudaDriver::Handle& out) {
  const auto known = loaded_functions.find(stub);
  if (known != loaded_functions.end()) {
    out = known->second;
    return 0;
  }
  const char* name = NameOf(stub);
  if (name == nullptr) return kInvalidSymbol;
  const int result = own->driver().ModuleGetFunction(&out, own->module(), name);
  if (result == 0) loaded_functions.emplace(stub, out);
  return result;
}

int ApiLaunch(const void* stub, Dim3 grid, Dim3 block, size_t shared, void* stream, void** params) {
  CudaDriver::Handle function = nullptr;
  const int found = FindFunction(stub, function);
  if (found != 0) return found;
  return own->driver().LaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                    static_cast<unsigned>(shared), stream, params, nullptr);
}
int ApiAllocate(void** out, size_t bytes) {
  CudaDriver::Address at = 0;
  const int result = own->driver().MemAlloc(&at, bytes == 0 ? 1 : bytes);
  *out = reinterpret_cast<void*>(at);  // NOLINT
  return result;
}
int ApiRelease(void* p) { return own->driver().MemFree(At(p)); }
int ApiCopy(void* to, const void* from, size_t bytes, void* stream, int wait) {
  if (bytes == 0) return 0;
  return wait != 0 ? own->driver().Memcpy(At(to), At(from), bytes)
                   : own->driver().MemcpyAsync(At(to), At(from), bytes, stream);
}
int ApiFill(void* to, int value, size_t bytes, void* stream) {
  return bytes == 0 ? 0
                    : own->driver().MemsetD8Async(At(to), static_cast<unsigned char>(value), bytes,
                                                  stream);
}
int ApiSynchronize(void* stream, int all) {
  return all != 0 ? own->driver().CtxSynchronize() : own->driver().StreamSynchronize(stream);
}
int ApiAllowShared(const void* stub, int attribute, int value) {
  CudaDriver::Handle function = nullptr;
  const int found = FindFunction(stub, function);
  return found != 0 ? found : own->driver().FuncSetAttribute(function, attribute, value);
}
int ApiSymbol(const void* stub, void** address, size_t* bytes) {
  const char* name = NameOf(stub);
  if (name == nullptr) return kInvalidSymbol;
  CudaDriver::Address at = 0;
  const int result = own->driver().ModuleGetGlobal(&at, bytes, own->module(), name);
  *address = reinterpret_cast<void*>(at);  // NOLINT
  return result;
}
int ApiAttribute(int which, int* value) {
  return own->driver().DeviceGetAttribute(value, which, 0);
}
int ApiOccupancy(const void* stub, int threads, size_t shared, int* blocks) {
  CudaDriver::Handle function = nullptr;
  const int found = FindFunction(stub, function);
  if (found != 0) return found;
  return own->driver().OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
int ApiStream(void** stream, int create) {
  return create != 0 ? own->driver().StreamCreate(stream, 0) : own->driver().StreamDestroy(*stream);
}
int ApiEvent(void** event, int what, void* stream, float* milliseconds, void* other) {
  const CudaDriver& driver = own->driver();
  switch (what) {
    case 0:
      return driver.EventCreate(event, 0);
    case 1:
      return driver.EventRecord(*event, stream);
    case 2:
      return driver.EventSynchronize(*event);
    case 3:
      return driver.EventElapsedTime(milliseconds, *event, other);
    case 4:
      return driver.EventDestroy(*event);
    default:
      return driver.StreamWaitEvent(stream, *event, 0);
  }
}

int ApiAllocateAsync(void** out, size_t bytes, void* stream) {
  if (!own->driver().has_pool()) return ApiAllocate(out, bytes);
  CudaDriver::Address at = 0;
  const int result = own->driver().MemAllocAsync(&at, bytes == 0 ? 1 : bytes, stream);
  *out = reinterpret_cast<void*>(at);  // NOLINT
  return result;
}
int ApiReleaseAsync(void* p, void* stream) {
  if (own->driver().has_pool()) return own->driver().MemFreeAsync(At(p), stream);
  const int result = own->driver().StreamSynchronize(stream);
  return result != 0 ? result : ApiRelease(p);
}

constexpr Api kApi = {2,         ApiLaunch,        ApiAllocate,    ApiRelease,
                      ApiCopy,   ApiFill,          ApiSynchronize, ApiAllowShared,
                      ApiSymbol, ApiAttribute,     ApiOccupancy,   ApiStream,
                      ApiEvent,  ApiAllocateAsync, ApiReleaseAsync};

}  // namespace

std::string CudaRunner::Open(int device, const std::string& cubin) {
  own = this;
  std::string problem = driver_.Open(device);
  if (!problem.empty() || cubin.empty()) return problem;
  std::ifstream file(cubin, std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (image.empty()) return "the device code is not there";
  const int result = driver_.ModuleLoadData(&module_, image.data());
  return result == 0 ? "" : "the device code does not load: " + driver_.ErrorText(result);
}

std::string CudaRunner::Bind(void* library) {
  const auto bind = reinterpret_cast<int (*)(const Api*)>(::dlsym(library, "kerf_cuda_bind"));
  take_error_ = reinterpret_cast<int (*)()>(::dlsym(library, "kerf_cuda_take_error"));
  if (bind == nullptr) return "";
  return bind(&kApi) == 0 ? "" : "the library was built for another kerf";
}

std::string CudaRunner::Synchronize() {
  const int result = driver_.CtxSynchronize();
  const int left = take_error_ == nullptr ? 0 : take_error_();
  if (result != 0) return driver_.ErrorText(result);
  return left == 0 ? "" : driver_.ErrorText(left);
}

CudaCallMemory::~CudaCallMemory() {
  for (const Segment& segment : segments_) {
    if (segment.base != 0) runner_.driver().MemFree(segment.base);
  }
}

std::string CudaCallMemory::Upload(const std::vector<WireTensor>& tensors,
                                   const std::vector<char*>& host) {
  constexpr uint64_t kSpread = 64;  // places an address may be drawn from, 256 bytes apart
  for (size_t i = 0; i < tensors.size(); ++i) {
    const WireTensor& tensor = tensors[i];
    Segment segment{0, 0, host[i], tensor.segment_bytes, tensor.place == Place::kOutputFile, false};
    data_.push_back(host[i] == nullptr ? nullptr : host[i] + tensor.data_offset);
    segment.device = tensor.place == Place::kInputFile || tensor.place == Place::kOutputFile;
    if (segment.device) {
      uint64_t random = 0;
      (void)!::getrandom(&random, sizeof random, GRND_NONBLOCK);
      int result = runner_.driver().MemAlloc(&segment.base, tensor.segment_bytes + kSpread * 256);
      segment.at = segment.base + random % kSpread * 256;
      if (result == 0) {
        result = runner_.driver().Memcpy(segment.at, At(host[i]), tensor.segment_bytes);
      }
      data_.back() = reinterpret_cast<void*>(segment.at + tensor.data_offset);  // NOLINT
      if (result != 0) {
        segments_.push_back(segment);
        return "out of device memory: " + runner_.driver().ErrorText(result);
      }
    }
    segments_.push_back(segment);
  }
  return "";
}

std::string CudaRunner::FlushCache(bool timed) {
  // Larger than twice the level-2 cache of any GPU there is.
  constexpr size_t kBytes = size_t{256} << 20;
  // About 30 ms. While the host prepared the call the device has lowered its clocks, and the first
  // work after that would be timed on a device that wakes up. Python's side does the same.
  constexpr int kTurns = 400;
  if (flush_ == 0) {
    const int result = driver_.MemAlloc(&flush_, kBytes);
    if (result != 0) return "out of device memory: " + driver_.ErrorText(result);
  }
  for (int i = 0; i < (timed ? kTurns : 1); ++i) {
    driver_.MemsetD8Async(flush_, 0, kBytes, nullptr);
  }
  driver_.CtxSynchronize();
  return "";
}

std::string CudaCallMemory::Fetch(const std::vector<std::string>& names, bool check) {
  std::vector<char> copy;
  for (size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (!segment.device) continue;
    if (segment.output) {
      const int result = runner_.driver().Memcpy(At(segment.host), segment.at, segment.bytes);
      if (result != 0) return runner_.driver().ErrorText(result);
    } else if (check) {
      copy.resize(segment.bytes);
      const int result = runner_.driver().Memcpy(At(copy.data()), segment.at, segment.bytes);
      if (result != 0) return runner_.driver().ErrorText(result);
      if (std::memcmp(copy.data(), segment.host, segment.bytes) != 0)
        return "kerf:input_write " + names[i];
    }
  }
  return "";
}

}  // namespace kerf::verify
