// From CUDA C to something the runner can load on a machine with a GPU.
//
// Quick way: the host half through the host compiler, the device half through NVRTC (cuda_split.h).
// When that does not do, because the source uses what neither half knows alone, nvcc builds all of
// it.
#pragma once

#include <optional>
#include <string>

#include "artifact/candidate.h"
#include "loop/verify/native_build.h"

namespace kerf::verify {

struct CudaOptions {
  std::string arch;          // "sm_90"
  std::string toolkit;       // "/usr/local/cuda"
  std::string resource_dir;  // holds cuda/
  std::string kerf_program;  // serves as NVRTC's process
};

struct CudaBuild {
  NativeBuild native;
  std::string cubin;  // path; empty when the library holds its device code
};

// $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, when it has cuda_runtime.h; kUnavailable otherwise.
Result<std::string> FindCudaToolkit();

Result<CudaBuild> BuildCuda(const Candidate& candidate, const CudaOptions& cuda,
                            const BuildOptions& options);

}  // namespace kerf::verify
