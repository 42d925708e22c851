// Calls to a model that gave no reply, in the run's failed_calls.jsonl: what was said before they
// broke, why, and what they cost. docs/loop.md, "Files".
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "llm/provider.h"
#include "trace/redactor.h"

namespace kerf::conduct {

inline constexpr char kFailedCallsName[] = "failed_calls.jsonl";

struct FailedCall {
  std::string time;
  std::string owner;  // "relu/0"
  std::string agent;
  std::string model;
  std::string error;
  std::vector<llm::Attempt> attempts;
};

Status AppendFailedCall(FileSystem& fs, const std::string& log_dir, const FailedCall& call,
                        const trace::Redactor& redactor);

// What a run has on file; lines that are no such record are left out. Empty without the file.
Result<std::vector<FailedCall>> ReadFailedCalls(FileSystem& fs, const std::string& log_dir);

}  // namespace kerf::conduct
