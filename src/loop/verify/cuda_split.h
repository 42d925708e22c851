// Splits a CUDA C source for a machine with a GPU: one text for the host compiler, one for NVRTC,
// which knows no host code.
//
// In the host text kernels have empty bodies and device functions none, and launches go through
// kerf_launch::Launch (cuda/host.h). In the device text host functions are left out. Lines stay
// where they are. What the split cannot do (overloaded kernels, host and device code in one
// expression) fails to compile, and nvcc takes over.
#pragma once

#include <string>
#include <string_view>

namespace kerf::verify {

struct CudaHalves {
  std::string host;
  std::string device;
};

CudaHalves SplitCuda(std::string_view source);

}  // namespace kerf::verify
