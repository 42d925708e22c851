// From a recorded run to its report and its simulator directory: the one entry to src/sim for the
// verbs.
//
//   const auto report = sim::Analyse(fs, log, model, {.parent = "out", .stamp =
//   "20260102030405678"}); report->cycles; report->hazards; report->directory  →
//   "out/OPPROF_20260102030405678_KERF/simulator"
#pragma once

#include <map>
#include <string>

#include "artifact/core_model.h"
#include "base/file_system.h"
#include "sim/output/report.h"

namespace kerf::sim {

struct OutputOptions {
  std::string parent;             // gets OPPROF_<stamp>_KERF; empty: nothing is written
  std::string stamp;              // "yyyymmddHHMMSSmmm"
  std::string kernel = "kernel";  // its name, in the details
  // One cycle is written as one nanosecond: viewers round to nanoseconds and would hide single
  // cycles.
  bool cycle_exact = false;
  bool perfetto = true;
  size_t top_stalls = 5;
  // Where a source file is now, by the name the log has for it; others are read under that name. A
  // file that cannot be read is left out of the source view.
  std::map<std::string, std::string> sources;
};

Result<SimReport> Analyse(FileSystem& fs, const InstructionLog& log, const CoreModel& model,
                          const OutputOptions& options);

// "20260102030405678" of nanoseconds since the epoch, UTC.
std::string StampOf(int64_t wall_nanos);

}  // namespace kerf::sim
