// OpenTelemetry GenAI spans as OTLP JSON Lines. docs/formats/export.md section 2.
#pragma once

#include <memory>

#include "trace/export.h"

namespace kerf::trace {

std::unique_ptr<TaskExporter> MakeOtlpExporter(FileSystem& fs, ExportSettings settings);

}  // namespace kerf::trace
