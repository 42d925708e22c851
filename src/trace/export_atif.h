// Harbor's Agent Trajectory Interchange Format, ATIF-v1.7: one JSON document on one line for each
// task. docs/formats/export.md section 3.
#pragma once

#include <memory>

#include "trace/export.h"

namespace kerf::trace {

std::unique_ptr<TaskExporter> MakeAtifExporter(FileSystem& fs, ExportSettings settings);

}  // namespace kerf::trace
