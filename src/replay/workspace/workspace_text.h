// The files of a replay workspace as text. Pure: the same plan gives the same bytes.
//
// Nothing a user may name freely (kernel, case, argument and module names) reaches C++, CMake or
// shell. Paths do, and are refused when they hold what those languages would read as more than a
// path.
#pragma once

#include <string>
#include <vector>

#include "artifact/workspace.h"

namespace kerf::workspace {

// kInvalidInput when a path cannot be written into generated files.
Result<std::vector<WorkspaceFile>> WorkspaceTexts(const ReplayPlan& plan);

// workspace.json
std::string WorkspaceManifest(const ReplayPlan& plan, const std::vector<WorkspaceFile>& files);

// Why this path may not stand in generated C++ and CMake, or nullopt.
std::optional<std::string> WrongPath(const std::string& path);

// Blocks of the grid: all dispatches together.
int64_t HwBlocks(const ReplayPlan& plan);

}  // namespace kerf::workspace
