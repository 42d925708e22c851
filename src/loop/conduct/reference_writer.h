// Has a task that is only a sentence written as a task file, and checks it.
//
// Recorded as a task of its own, TASK_ID-reference: DO_CODER_DIRECT is the file, VERIFY what the
// check found, FIX_CODER the next try.
#pragma once

#include <functional>
#include <string>

#include "artifact/task_spec.h"
#include "base/result.h"
#include "llm/prompt_library.h"
#include "llm/provider.h"
#include "loop/conduct/task.h"
#include "sandbox/sandbox.h"

namespace kerf::conduct {

struct ReferenceWriterOptions {
  std::string log_dir;
  std::string cache_dir;
  std::string model;  // as the user named it, for records
  int tries = 3;
  bool resume = false;  // what is recorded is not asked for again
  sandbox::Mode mode = sandbox::Mode::kBest;
};

// Empty when a task file with this text is fit to judge by; else what is wrong with it.
using CheckReference = std::function<Result<std::string>(const std::string& text)>;

// The real check: loads it, runs it, looks for null baselines that would pass.
CheckReference MakeReferenceCheck(FileSystem& fs, const TaskSpec& spec,
                                  const ReferenceWriterOptions& options);

// The text of the task file. Waits for the model. kInvalidInput when no try was fit, with the last
// complaint.
Result<std::string> WriteReference(const TaskSpec& spec, const ReferenceWriterOptions& options,
                                   const TaskPorts& ports, llm::Provider& model,
                                   const CheckReference& check);

}  // namespace kerf::conduct
