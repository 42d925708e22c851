// From the chosen entries of a scene test, or from a bare source, to the kernel of a replay: reads
// each source once, scans it, and decides on which cores it runs.
#pragma once

#include <string>
#include <vector>

#include "artifact/replay_kernel.h"
#include "artifact/scene.h"
#include "base/file_system.h"

namespace kerf::kernel {

// `chosen` is what the user named; `all` is every entry of the class, because a source that is
// listed as aic and as aiv is a mix that runs together. Which cores: the entry's core_type, else
// the folder (kernels/aic, kernels/aiv), else the guards in the code. Reading a context does not
// make a kernel a mix.
Result<ReplayKernel> BuildKernel(FileSystem& fs, const std::vector<SceneIncore>& chosen,
                                 const std::vector<SceneIncore>& all);

}  // namespace kerf::kernel
