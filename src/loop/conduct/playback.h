// What a trace holds of a task, as answers that can be given again. docs/loop.md, "Resume, fork,
// replay".
//
//   KERF_ASSIGN_OR_RETURN(Playback playback, Playback::Read(fs, log_dir, op, task, /*until=*/-1));
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "artifact/attempt.h"
#include "artifact/step.h"
#include "base/file_system.h"
#include "base/result.h"
#include "llm/provider.h"

namespace kerf::conduct {

struct RecordedAnswer {
  RecordKind kind = RecordKind::kDesignerOrCoder;
  ActionType action = ActionType::kDoDesigner;
  int64_t step = 0;
  std::string prompt;
  std::string reply;  // what the model sent, byte for byte
  std::string reasoning;
  llm::Finish finish = llm::Finish::kUnknown;
  std::string meta;
  bool given = false;  // a synthetic record of code the user gave (AIKG's start points)
  // verifier only
  std::string verify_res;
  std::string profile;
  std::string measurement;
  std::string verify_dir;
  Attempt attempt;
};

class Playback {
 public:
  Playback() = default;
  // The records of one task, up to and including step `until` (-1: all). kNotFound when there is no
  // such task; kCorrupt when a record cannot be used, with its step.
  static Result<Playback> Read(FileSystem& fs, const std::string& log_dir, const std::string& op,
                               const std::string& task, int64_t until);

  [[nodiscard]] bool empty() const { return answers_.empty(); }
  [[nodiscard]] size_t size() const { return answers_.size(); }
  [[nodiscard]] const RecordedAnswer& front() const { return answers_.front(); }
  RecordedAnswer Take();
  [[nodiscard]] int64_t last_step() const { return answers_.empty() ? 0 : answers_.back().step; }
  // From the first record; empty in traces of older versions or of AIKG.
  [[nodiscard]] const std::string& task_sha256() const { return task_sha256_; }

 private:
  std::deque<RecordedAnswer> answers_;
  std::string task_sha256_;
};

}  // namespace kerf::conduct
