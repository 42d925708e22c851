// What a simulated run came to, for people and for JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/hazard/hazard.h"

namespace kerf::sim {

struct PipeReport {
  Pipe pipe = Pipe::kScalar;
  PipeUse use;  // busy + stalled = SimReport::cycles
};

struct CoreReport {
  std::string name;  // "core0.veccore1"
  uint64_t cycles = 0;
  uint64_t instructions = 0;
  uint64_t operations = 0;  // of the cube, or of the vector unit
  uint64_t gm_bytes = 0;    // read and written
  double peak_share =
      -1;  // operations per cycle beside the cube's dense peak, 0…1; -1 = no cube work
  double memory_share = -1;  // GM bytes per cycle beside what its transfers could move; -1 = none
  std::vector<PipeReport> pipes;  // those with instructions
};

// Cycles lost at one place, for one reason.
struct StallReport {
  StallReason reason = StallReason::kNone;
  Pipe pipe = Pipe::kScalar;  // the one that stood still
  std::string instruction;    // "WAIT_FLAG"
  std::string place;          // "add.cpp:14"; empty when unknown
  std::string waits_for;      // "TLOAD MTE2 add.cpp:12": what the last of these waited for
  uint64_t cycles = 0;
  uint64_t count = 0;
};

struct HazardReport {
  HazardKind kind = HazardKind::kRace;
  bool warning = false;
  std::string what;
  std::vector<std::string> places;  // "TLOAD MTE2 add.cpp:12 (core0.veccore0)"
  uint64_t count = 1;
};

struct SimReport {
  std::string chip;
  double clock_mhz = 0;
  uint64_t cycles = 0;
  uint64_t instructions = 0;
  uint64_t dropped = 0;  // instructions the recorder left out
  bool complete = true;  // the kernel's process closed its log
  bool hangs = false;
  double default_share = 0;  // of the busy cycles, from defaults
  double read_contention = 1;
  std::vector<CoreReport> cores;
  std::vector<StallReport> stalls;  // worst first
  std::vector<HazardReport> hazards;
  std::string directory;  // the simulator folder; empty when nothing was written
  std::string perfetto;   // the file; empty when not written

  [[nodiscard]] double Microseconds() const {
    return clock_mhz > 0 ? static_cast<double>(cycles) / clock_mhz : 0;
  }
  [[nodiscard]] size_t ErrorCount() const;
};

// `top` stalls; waits for issue are not counted as stalls.
SimReport MakeReport(const InstructionLog& log, const CoreModel& model, const Checked& checked,
                     size_t top);

// One object, without a line end.
std::string ReportJson(const SimReport& report);

}  // namespace kerf::sim
