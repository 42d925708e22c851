// The model of timing.h again, cycle by cycle, so plainly that it is obviously right and far too
// slow: what the engine must agree with.
#pragma once

#include <vector>

#include "sim/timing/timing.h"

namespace kerf::sim {

struct SlowTime {
  uint64_t start = kNever;
  uint64_t end = kNever;
};

// By core and instruction. No SYNCALL.
std::vector<std::vector<SlowTime>> SlowSchedule(const InstructionLog& log, const CoreModel& model);

}  // namespace kerf::sim
