// The raw text logs of the cycle simulator: coreN.veccoreM.instr_popped_log.dump says when an
// instruction was issued, ….instr_log.dump when it retired.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "artifact/timeline.h"
#include "base/file_system.h"

namespace kerf::timeline {

struct CaRecord {
  uint64_t tick = 0;
  uint64_t pc = 0;
  std::string pipe;
  std::string id;  // empty: joined by pc
  std::string name;
  std::string detail;
};

// Lines of other shapes are skipped and counted.
std::vector<CaRecord> ParseCaLog(std::string_view text, size_t& skipped);

// Joins starts with ends, the k-th of one pc or id with the k-th, and turns ticks into
// microseconds. How many starts have no end, or one before them; they are left out.
size_t AddCaCore(const std::vector<CaRecord>& issued, const std::vector<CaRecord>& retired,
                 double megahertz, TimelineCore& core);

// What of the logs is not in the timeline.
struct CaLosses {
  size_t lines = 0;     // of other shapes
  size_t unjoined = 0;  // instructions that were issued and did not retire
};

// A folder of such logs (dump/ or device0/tmp_dump/), each perhaps continued in files with numbers.
// kNotFound when it holds none.
Result<Timeline> ReadCaDumps(FileSystem& fs, const std::string& dir, double megahertz,
                             CaLosses& losses);

}  // namespace kerf::timeline
