// Why a run that hangs hangs: waits that nothing satisfies, and cycles of waits.
#pragma once

#include "sim/hazard/hazard.h"

namespace kerf::sim {

// Empty when nothing is blocked. Of a log that is not whole these are warnings: what was not
// recorded may have raised the flag.
std::vector<Hazard> ExplainHang(const InstructionLog& log, const RunTiming& timing);

}  // namespace kerf::sim
