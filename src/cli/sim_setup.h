// What `kerf sim` is asked for: its flags, the launch they mean, and what becomes of the outputs.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "replay/replayer.h"
#include "sim/exec/executor.h"
#include "sim/output/analyse.h"

namespace kerf::cli {

std::vector<Flag> SimFlags();

Result<replay::ReplayRequest> ParseSimRequest(const Args& args);
Result<sim::ExecOptions> MakeExecOptions(const Args& args, const ReplayPlan& plan,
                                         Context& context);

struct OutputCheck {
  int slot = 0;
  bool right = false;
  std::string text;  // how far it is from what was expected
};

// Against --expect and, with --check-output, against what the dump holds after the launch.
Result<std::vector<OutputCheck>> CheckOutputs(const Args& args,
                                              const replay::ReplayRequest& request,
                                              const sim::ExecResult& run, Context& context);

struct AnalyseRequest {
  const ReplayPlan& plan;
  const sim::ExecResult& run;
  std::string chip;    // "ascend910b1"
  std::string parent;  // gets OPPROF_*; empty: nothing is written
  bool cycle_exact = false;
};
// Times what was recorded, looks for hazards, and writes the simulator directory. nullopt when
// nothing was recorded.
Result<std::optional<sim::SimReport>> AnalyseRun(const AnalyseRequest& request, Context& context);

// The chip that stands for a family, and the one the user named.
std::string ChipOf(Platform platform);
std::string ChipName(const Args& args);

// --save-outputs DIR: slot<N>.bin, the view row by row.
Status SaveOutputs(const Args& args, const sim::ExecResult& run, Context& context);

// "0.5 0.25 … (min 0, max 1)"
std::string PreviewOutput(const sim::ExecOutput& output);

}  // namespace kerf::cli
