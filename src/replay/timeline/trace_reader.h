// trace.json of a simulator directory, real or kerf's own: the summary (pid and tid are names) and
// the per-core files (pid and tid are numbers, named by M events).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "artifact/timeline.h"
#include "base/result.h"

namespace kerf::timeline {

struct TraceEvent {
  char phase = '?';
  std::string name, category, id, pid, tid;
  double ts = 0;
  double duration = 0;
  std::string code, detail, pc;
  std::string arg_name;        // M events: args.name
  bool args_after_ph = false;  // Insight's splitter counts braces from the last "ph" on
  bool ph_in_args = false;
};

struct TraceFile {
  int64_t schema_version = 0;
  bool profiling_op = false;      // "profilingType":"op"
  bool op_before_events = false;  // … and before the first '[', which is how Insight knows the mode
  std::vector<TraceEvent> events;
};

// kCorrupt with the byte where the text is no trace.
Result<TraceFile> ParseTrace(const std::string& file, std::string_view text);

// Slices of X events and of B/E pairs, flows of s/t pairs. `core` names the core of a per-core
// file; empty for a summary.
Timeline TimelineOf(const TraceFile& trace, const std::string& core = "");

}  // namespace kerf::timeline
