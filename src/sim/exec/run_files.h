// What the process that runs a kernel is told, and what it leaves behind: two JSON files in the
// work folder it shares with kerf, beside the tensors' bytes.
//
//   request.json   RunRequest
//   t<slot>.in     the buffer of the tensor of that slot, as it is before the launch
//   result.json    RunResult; missing when the process died
//   t<slot>.out    the buffer after the launch, of outputs and in-out tensors
//   run.kilog      the instruction log
//   fault.txt      where the kernel was when it crashed
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/machine/finding.h"

namespace kerf::sim {

struct RunTensor {
  int slot = 0;
  std::string name;
  uint64_t bytes = 0;
  std::string descriptor;  // 128 bytes, with the address left out
  bool output = false;
};

struct RunScalar {
  int slot = 0;
  uint64_t bits = 0;
};

// One row of arguments: the blocks of a dispatch, and what differs in its slots.
struct RunDispatch {
  int64_t blocks = 1;
  std::vector<RunScalar> overrides;
};

struct RunRequest {
  bool a5 = false;
  bool record = true;
  uint64_t most_instructions = 0;  // recorded at most; 0: no limit
  bool lane_register = true;
  int64_t block_num = 0;  // what the context says; 0: the dispatch's blocks
  // Libraries by core, as the process sees them; empty: that core does not take part.
  std::string aic;
  std::string aiv[2];
  std::vector<RunTensor> tensors;
  std::vector<RunScalar> scalars;
  std::vector<RunDispatch> dispatches;
  // Slot that gets a communication context of one rank; -1: none.
  int comm_slot = -1;
};

struct RunResult {
  std::string error;  // why nothing ran: a library that does not load
  std::vector<Finding> findings;
  uint64_t instructions = 0;
  std::string printed;
  uint64_t cores = 0;
  uint64_t finished = 0;
  double run_seconds = 0;
};

// The different libraries of a request: the cube's first.
std::vector<std::string> Libraries(const RunRequest& request);

std::string WriteRunRequest(const RunRequest& request);
Result<RunRequest> ReadRunRequest(const std::string& text);
std::string WriteRunResult(const RunResult& result);
// Written by a process that ran code nobody trusts: checked, and kCorrupt when it makes no sense.
Result<RunResult> ReadRunResult(const std::string& text);

}  // namespace kerf::sim
