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

// Times what was recorded, looks for hazards, and writes the simulator directory when --out says
// where.
Result<sim::SimReport> AnalyseRun(const Args& args, const ReplayPlan& plan,
                                  const sim::ExecResult& run, Context& context);

// --save-outputs DIR: slot<N>.bin, the view row by row.
Status SaveOutputs(const Args& args, const sim::ExecResult& run, Context& context);

// "0.5 0.25 … (min 0, max 1)"
std::string PreviewOutput(const sim::ExecOutput& output);

}  // namespace kerf::cli
