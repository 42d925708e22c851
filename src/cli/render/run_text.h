// What a run came to, in words and as JSON.
#pragma once

#include <string>
#include <vector>

#include "artifact/task_spec.h"
#include "base/file_system.h"
#include "base/result.h"
#include "cli/render/output.h"
#include "cli/verb.h"
#include "llm/ledger.h"
#include "loop/conduct/task.h"

namespace kerf::cli {

struct RunResult {
  TaskSpec spec;
  conduct::TaskOutcome outcome;
};

struct RunReport {
  std::string log_dir;
  std::vector<RunResult> results;
  llm::Account total;
  std::string ledger_json;
  bool interrupted = false;
  std::vector<std::string> skipped;  // files of a folder that are no usable task
  std::vector<std::string> ignored;  // its other Python files
  bool failed_calls = false;         // some calls gave no reply; they have a file
};

// "1200 tokens in 7 calls, $0.0123"; empty when nothing was used.
std::string MoneyText(const llm::Account& total);

std::string RunText(const RunReport& report, Output& out);
// One object and a line end.
std::string RunJson(const RunReport& report);
int RunExitCode(const RunReport& report);
// Whether --output can be kept; before the work.
Status CheckOutput(const Args& args, size_t tasks, FileSystem& fs);
// --output: the best kernel of the only task.
Status KeepOutput(const Args& args, FileSystem& fs, const std::vector<RunResult>& results);

}  // namespace kerf::cli
