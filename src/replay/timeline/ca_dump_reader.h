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
// microseconds.
void AddCaCore(const std::vector<CaRecord>& issued, const std::vector<CaRecord>& retired,
               double megahertz, TimelineCore& core);

// A folder of such logs (dump/ or device0/tmp_dump/). kNotFound when it holds none.
Result<Timeline> ReadCaDumps(FileSystem& fs, const std::string& dir, double megahertz,
                             size_t& skipped);

}  // namespace kerf::timeline
