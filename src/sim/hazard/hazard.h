// What would hang the chip or spoil its results, found in a recorded run.
//
//   const Checked checked = TimeAndCheck(log, model);
//   for (const Hazard& hazard : checked.hazards) …
//
// A race is a pair of accesses to the same bytes, at least one a write, that nothing orders:
// whether it happens depends on timing, so it is searched for in the order of causes (vector clocks
// over pipes, flags, barriers and signals), never in the simulated times.
#pragma once

#include <string>
#include <vector>

#include "sim/timing/timing.h"

namespace kerf::sim {

enum class HazardKind : uint8_t {
  kRace,            // two pipes, one buffer, no order
  kMissingBarrier,  // one pipe that overlaps its instructions, one needs the other's result
  kWaitWithoutSet,  // hangs: nothing raises the flag
  kDeadlock,        // hangs: a cycle of waits
  kDoubleSet,       // the flag may still be up
  kSetNeverWaited,  // no wait for this flag anywhere
  kFlagLeftSet,     // up at the end
};
inline constexpr size_t kHazardKinds = 7;
// "race", "missing_barrier", …: stable, part of the output.
const char* HazardKindName(HazardKind kind);

struct HazardPlace {
  uint32_t core = 0;
  uint32_t instruction = 0;
};

struct Hazard {
  HazardKind kind = HazardKind::kRace;
  bool warning = false;             // suspicious, not wrong by itself
  std::string what;                 // one sentence
  std::vector<HazardPlace> places;  // of a deadlock the cycle, in order
  uint64_t count = 1;               // how often, at the same source lines
};

struct Checked {
  RunTiming timing;
  std::vector<Hazard> hazards;  // errors first, then as found
};

Checked TimeAndCheck(const InstructionLog& log, const CoreModel& model);

// "TLOAD MTE2 kernel.cpp:12"
std::string DescribePlace(const InstructionLog& log, const HazardPlace& place);

}  // namespace kerf::sim
