// From a run of the reference runner that gave no reference to an Error that helps: whose fault,
// what, and which line of the task.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "loop/task/interpreter.h"
#include "loop/task/task_file.h"
#include "sandbox/outcome.h"

namespace kerf::task {

struct FailedRun {
  const sandbox::Outcome& outcome;
  const std::string& out_folder;  // the runner's; holds error.json when it came so far
  const TaskFile& task;
  const Interpreter& interpreter;
  std::chrono::seconds timeout;
};

Error ExplainFailure(const FailedRun& run);

}  // namespace kerf::task
