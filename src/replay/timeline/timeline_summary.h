// How busy the pipes were, what took the time, and how two runs differ.
#pragma once

#include <string>
#include <vector>

#include "artifact/timeline.h"

namespace kerf::timeline {

struct PipeUse {
  std::string core;
  std::string pipe;
  int64_t slices = 0;
  double busy_us = 0;  // the union of its slices, without its waits
  double wait_us = 0;  // the union of its waits for other pipes
};

struct HotSpot {
  std::string what;  // "MTE2 MOV_OUT_TO_UB", or "file:line"
  int64_t count = 0;
  double total_us = 0;
};

struct TimelineSummary {
  double span_us = 0;  // from the first start to the last end
  int64_t slices = 0;
  std::vector<PipeUse> pipes;         // by core and pipe
  std::vector<HotSpot> instructions;  // by time
  std::vector<HotSpot> lines;         // by time; empty without debug info
};

TimelineSummary Summarize(const Timeline& timeline, size_t top);

struct DiffRow {
  std::string what;
  double before_us = 0;
  double after_us = 0;
  int64_t before_count = 0;
  int64_t after_count = 0;
};

struct TimelineDiff {
  double before_us = 0;
  double after_us = 0;
  std::vector<DiffRow> pipes;         // by core and pipe
  std::vector<DiffRow> instructions;  // by how much they differ
};

TimelineDiff Compare(const Timeline& before, const Timeline& after, size_t top);

// Slices of a wait for another pipe: WAIT_FLAG, wait_event, WAIT_INTRA_BLOCK.
bool IsWait(const TimelineSlice& slice);

}  // namespace kerf::timeline
