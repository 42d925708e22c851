// Runs a planned launch on the simulated cores: compiles its kernels, starts the process that runs
// them in the sandbox, and brings back outputs, findings and the instruction log.
//
//   KERF_ASSIGN_OR_RETURN(const ExecResult run, Execute(fs, plan, options));
//   if (run.status == ExecStatus::kRan) … run.outputs, run.findings, run.log_path …
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/workspace.h"
#include "base/file_system.h"
#include "loop/verify/scratch.h"
#include "sim/exec/kernel_build.h"
#include "sim/machine/finding.h"

namespace kerf::sim {

struct ExecOptions {
  KernelBuildOptions build;
  std::string program;  // kerf itself
  bool record = true;
  uint64_t most_instructions = 0;     // recorded at most; 0: no limit
  std::optional<int> lanes;           // vector cores of a block; default by the kernel
  std::optional<bool> lane_register;  // whether get_subblockid() is the lane; default by the kernel
  int comm_slot = -1;                 // gets a communication context of one rank
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
};

enum class ExecStatus {
  kRan,          // to the end or to what `findings` say
  kNotCompiled,  // `log` has the compiler's words
  kDied,         // crashed, hung or hit a limit: `findings` has it
};

struct ExecOutput {
  int slot = 0;
  std::string name;
  TensorArg tensor;
  std::string bytes;  // the view, row by row
};

struct ExecResult {
  ExecStatus status = ExecStatus::kRan;
  std::string log;
  std::vector<Finding> findings;
  std::vector<ExecOutput> outputs;
  std::vector<std::string> notes;  // what was assumed
  std::string log_path;            // of the instruction log, empty when there is none
  uint64_t instructions = 0;
  std::string printed;  // by TPRINT
  // For the call stacks of its log: the libraries in the order of their numbers, and how programs
  // that read them are run.
  std::vector<std::string> libraries;
  sandbox::Mode mode = sandbox::Mode::kBest;
  uint64_t cores = 0;
  uint64_t finished = 0;
  double build_seconds = 0;
  double run_seconds = 0;                   // of the launch alone
  bool cached = false;                      // the compiled kernels
  std::shared_ptr<verify::Scratch> folder;  // keeps log_path alive

  // Whether all cores came to their end without an error.
  [[nodiscard]] bool sound() const;
};

Result<ExecResult> Execute(FileSystem& fs, const ReplayPlan& plan, const ExecOptions& options);

}  // namespace kerf::sim
