// A simulator directory in memory, and what is wrong with it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "artifact/timeline.h"
#include "base/file_system.h"
#include "replay/timeline/csv_reader.h"
#include "replay/timeline/trace_reader.h"

namespace kerf::timeline {

struct CoreFolder {
  std::optional<TraceFile> trace;
  std::vector<InstrRow> instr;
  std::vector<CodeRow> code;
  bool has_instr = false;
};

struct SimulatorDir {
  std::string path;
  TraceFile trace;
  std::string trace_text;
  std::string bin;  // empty: no visualize_data.bin
  std::map<std::string, CoreFolder> cores;
};

struct Finding {
  bool damage = true;  // false: Insight opens it all the same
  std::string where;
  std::string what;
};

// Reads everything that can be read; what cannot is a finding. An Error only when there is no
// trace.json that could be a trace.
Result<SimulatorDir> ReadSimulatorDir(FileSystem& fs, const std::string& path,
                                      std::vector<Finding>& findings);

// The rules of the container, the traces and the tables, and that they tell the same.
void CheckSimulatorDir(const SimulatorDir& dir, std::vector<Finding>& findings);

}  // namespace kerf::timeline
