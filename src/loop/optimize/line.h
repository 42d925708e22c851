// A line of descent of a case: one attempt in each iteration, everything recorded. Does no work
// itself: it says what is to be done and takes what came of it, so that one thread can lead
// hundreds (optimizer.h).
//
//   line.Begin(iteration, state, live);
//   for (;;) {
//     KERF_ASSIGN_OR_RETURN(Line::Work work, line.Next());
//     if (work.kind == Line::Work::Kind::kDone) break;
//     … ask a model: line.TakeReply(reply); or judge: line.TakeJudgement(judgement);
//   }
//   line.TakeTrial();
//
// A record is durable before the next Work is given out. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "artifact/candidate.h"
#include "base/result.h"
#include "llm/attempt_log.h"
#include "llm/provider.h"
#include "loop/conduct/playback.h"
#include "loop/conduct/record_meta.h"
#include "loop/conduct/task.h"
#include "loop/optimize/case_state.h"
#include "loop/optimize/data_case.h"
#include "loop/optimize/prompter.h"
#include "trace/recorder.h"
#include "trace/redactor.h"

namespace kerf::optimize {

// Shared by all lines; everything outlives them.
struct LinePorts {
  FileSystem& fs;
  Clock& clock;
  trace::Recorder& recorder;
  const trace::Redactor& redactor;
  const Prompter& prompter;
  std::string model;  // as the user named it, for records
  Rules rules;
  bool measure = true;
  bool reflect = true;
  bool only_synth = false;
};

class Line {
 public:
  // `data` outlives it. `playback`: what is recorded of it.
  Line(const Case& data, int64_t index, const LinePorts& ports, conduct::Playback playback);

  struct Work {
    enum class Kind { kAsk, kVerify, kDone };
    Kind kind = Kind::kDone;
    llm::Request request;  // its spec is borrowed from the line
    Candidate candidate;
    TaskSpec spec;
  };

  // `state` is not changed before the attempt is done. Not `live`: only what is recorded counts.
  void Begin(int64_t iteration, const CaseState& state, bool live);
  Result<Work> Next();
  Status TakeReply(Result<llm::Reply> reply);
  Status TakeJudgement(Result<conduct::Judgement> judgement);

  // Ends the attempt; what was recorded of it is kept.
  void Stop() { need_ = Need::kNothing; }

  // The attempt, once it is done; nullopt when none was made.
  std::optional<Trial> TakeTrial();
  // Why it takes no more attempts; empty while it does.
  [[nodiscard]] const std::string& ended() const { return ended_; }
  // Why it got no answer: not the kernel's fault, and tried again when the run is resumed.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  // "rowscale/0".
  [[nodiscard]] std::string name() const { return data_.folder + "/" + task_; }
  [[nodiscard]] const Trial& trial() const { return trial_; }

 private:
  enum class Need { kGiven, kSynth, kCode, kVerify, kReflect, kNothing };

  // One recorded answer to what is needed now. False when it must be done live.
  Result<bool> PlayOne();
  Status PlayVerdict(const conduct::RecordedAnswer& answer);
  Result<Work> MakeAsk();
  Work MakeVerify() const;
  Status RecordGiven();
  // The verdict of an earlier attempt with the same code; false when there is none.
  Result<bool> RepeatVerdict();
  Status RecordVerdict(const conduct::Judgement& judgement, const std::string& same_as);
  Status RecordReply(const llm::Reply& reply, const std::vector<std::string>& repairs);
  Status RecordFailure(const Error& error);
  void TakeCode(const std::string& text, llm::Finish finish);
  void TakeVerdict(const Verdict& verdict);
  void AfterVerdict();
  [[nodiscard]] std::string Agent() const;
  [[nodiscard]] ActionType Action() const;
  [[nodiscard]] conduct::MoreFacts More() const;

  const Case& data_;
  const int64_t index_;
  const std::string task_;
  const LinePorts& ports_;
  const std::string sha256_;  // of what it is about
  conduct::Playback playback_;
  // Of the attempt under way.
  const CaseState* state_ = nullptr;
  Plan plan_;
  bool live_ = false;
  Need need_ = Need::kNothing;
  bool judged_ = false;
  bool unusable_ = false;  // the second reply without code ends the attempt
  std::string complaint_;
  Trial trial_;
  llm::Prompt prompt_;
  std::shared_ptr<llm::AttemptLog> tries_;
  std::string ended_;
  std::optional<Error> error_;
};

}  // namespace kerf::optimize
