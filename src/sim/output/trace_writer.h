// trace.json of a simulator directory: the summary over all cores and one file for each core, and
// the file for Perfetto. What Insight demands of them is checked by `kerf timeline check`.
#pragma once

#include <string>
#include <vector>

#include "sim/output/catalog.h"
#include "sim/output/text.h"

namespace kerf::sim {

// What every writer of events needs.
struct TraceInput {
  const InstructionLog& log;
  const RunTiming& timing;
  const Catalog& catalog;
  TimeText time;
  std::vector<std::string> code;  // by site: the call stack as a JSON string's content
};

TraceInput MakeTraceInput(const InstructionLog& log, const RunTiming& timing,
                          const Catalog& catalog, const TimeText& time);

// Both return the bytes written.
Result<uint64_t> WriteSummaryTrace(FileSystem& fs, const TraceInput& input,
                                   const std::string& path);
Status WriteCoreTrace(FileSystem& fs, const TraceInput& input, uint32_t core,
                      const std::string& path);
// All cores, lanes in the order of the data's way, rows that do not overlap, no scalar and set
// noise.
Status WritePerfetto(FileSystem& fs, const TraceInput& input, const std::string& path);

// How the traces call a lane's colour.
const char* ColourOf(Pipe pipe);

}  // namespace kerf::sim
