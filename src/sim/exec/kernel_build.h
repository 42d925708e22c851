// From the source of an in-core kernel to a library the machine can run: the host's compiler with
// kerf's own headers (pto/), in the sandbox, kept by content.
#pragma once

#include <string>
#include <vector>

#include "artifact/replay_kernel.h"
#include "base/file_system.h"
#include "loop/verify/native_build.h"

namespace kerf::sim {

struct KernelBuildOptions {
  std::string resources;  // holds pto/ and include/
  std::string cache_dir;
  Platform platform = Platform::kA2A3;
  std::vector<std::string> include_dirs;  // of the user; searched before kerf's headers
  std::vector<std::string> defines;       // "NAME" or "NAME=VALUE"
  sandbox::Mode mode = sandbox::Mode::kBest;
};

// One source, for one kind of core. What the compiler says about it is in the result's log.
Result<verify::NativeBuild> BuildKernel(FileSystem& fs, const KernelMember& member,
                                        const KernelBuildOptions& options);

}  // namespace kerf::sim
