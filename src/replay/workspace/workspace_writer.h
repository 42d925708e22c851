// Puts a replay workspace on the disk, payloads included.
#pragma once

#include <string>

#include "artifact/workspace.h"
#include "base/file_system.h"

namespace kerf::workspace {

// The bytes of a tensor's buffer, its payload scattered to where the view has its elements.
Result<std::string> BufferBytes(FileSystem& fs, const KernelArg& arg);

// Makes `dir`, which must not exist or be empty, so that no older run's files are mistaken for this
// one's. workspace.json is written last: a folder without it is not finished.
Status WriteWorkspace(FileSystem& fs, const ReplayPlan& plan, const std::string& dir);

// "insight_trace_<case>_<kernel>_20261115_093000": letters, digits, '.', '_' and '-' only.
std::string DefaultWorkspaceName(const std::string& scene_case, const std::string& kernel,
                                 int64_t wall_nanos);

}  // namespace kerf::workspace
