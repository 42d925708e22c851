// The GPU in the runner's process: tensors in device memory, and what the candidate's host code may
// ask of the driver.
//
// One for the process: the candidate's functions know no other.
#pragma once

#include <string>
#include <vector>

#include "loop/verify/cuda_driver.h"
#include "loop/verify/wire.h"

namespace kerf::verify {

class CudaRunner {
 public:
  // `cubin`: path of the device code, empty when the library brings its own (nvcc). Empty, or why
  // it did not work.
  std::string Open(int device, const std::string& cubin);
  // Hands the driver's functions to the library (cuda/host.h); nothing for one that nvcc built.
  std::string Bind(void* library);

  // So that a call does not find its inputs in the device's cache, where the upload left them.
  // `timed`: also until the device's clocks are up.
  std::string FlushCache(bool timed);
  // Waits for everything the candidate started, on all streams, and tells what went wrong.
  std::string Synchronize();
  CudaDriver& driver() { return driver_; }
  CudaDriver::Handle module() { return module_; }

 private:
  CudaDriver driver_;
  CudaDriver::Handle module_ = nullptr;
  int (*take_error_)() = nullptr;
  CudaDriver::Address flush_ = 0;
};

// The tensors of one call in device memory, each between canaries, at addresses drawn by chance.
class CudaCallMemory {
 public:
  explicit CudaCallMemory(CudaRunner& runner) : runner_(runner) {}
  ~CudaCallMemory();
  CudaCallMemory(const CudaCallMemory&) = delete;
  CudaCallMemory& operator=(const CudaCallMemory&) = delete;

  // `host`: where each tensor's segment is mapped in this process. Uploads everything, garbage in
  // outputs included.
  std::string Upload(const std::vector<WireTensor>& tensors, const std::vector<char*>& host);
  // Copies outputs back. With `check`, tells which input was changed, as "kerf:input_write NAME".
  std::string Fetch(const std::vector<std::string>& names, bool check);
  [[nodiscard]] void* data(size_t i) const { return data_[i]; }

 private:
  struct Segment {
    CudaDriver::Address base = 0;
    CudaDriver::Address at = 0;
    char* host = nullptr;
    uint64_t bytes = 0;
    bool output = false;
    bool device = false;
  };

  CudaRunner& runner_;
  std::vector<Segment> segments_;
  std::vector<void*> data_;
};

}  // namespace kerf::verify
