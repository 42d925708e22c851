// One task of the loop, with AIKG's parameters: from a TaskSpec to the best candidate, everything
// recorded. Does no work itself: it says what is to be done and takes what came of it, so that one
// thread can lead hundreds (driver.h).
//
//   KERF_ASSIGN_OR_RETURN(auto task, Task::Open(options, ports));
//   for (;;) {
//     KERF_ASSIGN_OR_RETURN(Task::Work work, task->Next());
//     if (work.kind == Task::Work::Kind::kDone) break;
//     … ask a model: task->TakeReply(reply); or judge: task->TakeJudgement(judgement);
//   }
//   task->outcome();
//
// A record is durable before the next Work is given out. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/task_spec.h"
#include "artifact/verdict.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "llm/attempt_log.h"
#include "llm/prompt_library.h"
#include "llm/provider.h"
#include "loop/conduct/conductor.h"
#include "loop/conduct/playback.h"
#include "trace/redactor.h"
#include "trace/trace.h"

namespace kerf::conduct {

// What the judge says of a candidate.
struct Judgement {
  Verdict verdict;
  std::vector<int64_t> seeds;
  std::string device;  // "cpu:0"
};

struct TaskOptions {
  TaskSpec spec;
  Rules rules;
  Start start;
  std::string log_dir;
  trace::Names names = trace::Names::kDoc;
  std::string hardware;            // in words, for prompts
  std::string designer_documents;  // of the user's
  std::string coder_documents;
  std::string model;     // as the user named it, for records
  std::string sentence;  // what the task's text was written from, if a model wrote it
  std::string prompts;   // the folder of the user's own, if there is one
  // Of the whole run; kept so that whoever resumes it need not repeat them.
  std::optional<int64_t> max_tokens_total;
  std::optional<double> max_cost;
  int64_t live_limit = 0;          // of steps once a recording is played; 0: that of the rules
  size_t reflection_bytes = 8192;  // of a prompt
  size_t log_bytes = 12288;        // of a verifier's log in a prompt
};

// How recorded answers are used; docs/loop.md has the table.
enum class PlaybackMode { kResume, kFork, kReplay };

struct TaskPorts {
  FileSystem& fs;
  Clock& clock;
  IdSource& ids;
  const llm::PromptLibrary& prompts;
  const trace::Redactor& redactor;
};

struct TaskOutcome {
  bool success = false;
  std::string because;          // why it ended
  std::optional<Attempt> best;  // passed; the fastest when measured
  std::string best_dir;         // its verify folder
  int64_t steps = 0;
  std::optional<Error> error;             // when kerf failed, not the kernel
  std::optional<std::string> divergence;  // replay: the first difference
};

class Task {
 public:
  static Result<std::unique_ptr<Task>> Open(TaskOptions options, TaskPorts ports);
  // The same, given the recorded answers of a task first.
  static Result<std::unique_ptr<Task>> Open(TaskOptions options, TaskPorts ports, Playback playback,
                                            PlaybackMode mode);

  struct Work {
    enum class Kind { kAsk, kVerify, kDone };
    Kind kind = Kind::kDone;
    llm::Request request;  // its spec and last verdict are borrowed from the task
    Candidate candidate;
    std::optional<Judgement> known;  // the same code was judged before: nothing is to be done
  };
  Result<Work> Next();
  Status TakeReply(Result<llm::Reply> reply);
  Status TakeJudgement(Result<Judgement> judgement);
  // Ends it: it cannot go on at all. What was done is kept.
  void Fail(const Error& error, const std::string& because);
  // The same without an error.
  void Stop(const std::string& because) { conductor_.Stop(because); }
  // The user ended it. What was under way may have failed by that, which is nobody's failure.
  void Interrupt() {
    error_.reset();
    conductor_.Stop("interrupted");
  }

  [[nodiscard]] const TaskSpec& spec() const { return options_.spec; }
  [[nodiscard]] const Conductor& conductor() const { return conductor_; }
  [[nodiscard]] TaskOutcome outcome() const;
  // "relu/0".
  [[nodiscard]] std::string name() const { return spec().op_name + "/" + spec().task_id; }
  [[nodiscard]] bool wants_profile() const { return spec().task_type == "profile"; }

 private:
  Task(TaskOptions options, TaskPorts ports, Playback playback, PlaybackMode mode);
  Status OpenTrace();
  Status RecordGivenCode();
  Result<llm::Prompt> MakePrompt() const;
  Result<llm::Prompt> RenderPrompt() const;
  [[nodiscard]] std::string AgentName() const;
  // One recorded answer to what is needed now. False when it must be done live.
  Result<bool> PlayOne();
  Status PlayReply(const RecordedAnswer& answer);
  Status PlayVerdict(const RecordedAnswer& answer);
  void Diverge(int64_t step, const std::string& what);
  void Feed(const std::string& text, llm::Finish finish);
  Status RecordReply(const llm::Reply& reply);
  Status RecordFailure(const Error& error);
  // A model may send what it sent before; judging it again would give the same.
  [[nodiscard]] std::optional<Judgement> KnownJudgement() const;

  const TaskOptions options_;
  TaskPorts ports_;
  const std::string task_sha256_;
  Conductor conductor_;
  Playback playback_;
  const PlaybackMode mode_;
  std::unique_ptr<trace::Trace> trace_;     // null when nothing is recorded
  llm::Prompt prompt_;                      // of the request under way
  std::shared_ptr<llm::AttemptLog> tries_;  // of the same
  std::optional<Verdict> last_verdict_;
  struct Known {
    int64_t step = 0;
    Judgement judgement;
  };
  std::map<std::string, Known> known_;  // by code; only what another look would not change
  std::string measurement_;             // of the best candidate, in words
  std::string best_dir_;
  std::optional<Error> error_;
  std::optional<std::string> divergence_;
};

}  // namespace kerf::conduct
