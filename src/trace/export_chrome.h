// A timeline in Chrome's trace event format, which Perfetto opens. docs/formats/export.md
// section 4.
#pragma once

#include <memory>

#include "trace/export.h"

namespace kerf::trace {

std::unique_ptr<TaskExporter> MakeChromeExporter(FileSystem& fs, ExportSettings settings);

}  // namespace kerf::trace
