// What ran on which pipe of which core, and when: the content of a simulator directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kerf {

struct TimelineSlice {
  std::string pipe;  // "MTE2"
  std::string name;  // the instruction
  double start_us = 0;
  double duration_us = 0;
  std::string code;    // "file:line", innermost first, by lines; empty without debug info
  std::string detail;  // operands
  uint64_t pc = 0;
};

// From a SET to its WAIT.
struct TimelineFlow {
  std::string category;  // "MTE2ToVECTOR"
  std::string id;
  std::string from_core, from_pipe, to_core, to_pipe;
  double from_us = 0;
  double to_us = 0;
};

struct TimelineCore {
  std::string name;                   // "core0.veccore0"
  std::vector<TimelineSlice> slices;  // by start
};

struct Timeline {
  std::vector<TimelineCore> cores;  // by name
  std::vector<TimelineFlow> flows;

  // The core of that name, made when it is missing.
  TimelineCore& Core(const std::string& name);
  void Sort();
};

}  // namespace kerf
