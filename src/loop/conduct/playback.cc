#include "loop/conduct/playback.h"

#include <utility>

#include "base/json_reader.h"
#include "trace/reader.h"
#include "trace/step_facts.h"

namespace kerf::conduct {
namespace {

std::string FactText(const std::vector<trace::Fact>& facts, const std::string& path) {
  for (const trace::Fact& fact : facts) {
    if (fact.path == path) return fact.text;
  }
  return "";
}

Result<RecordedAnswer> ReadAnswer(FileSystem& fs, const std::string& op_dir, const Step& step) {
  RecordedAnswer answer;
  answer.kind = step.kind;
  answer.step = step.step;
  answer.meta = step.meta;
  const std::optional<ActionType> action = ParseAction(step.action);
  if (!action.has_value()) {
    return Corrupt("step " + std::to_string(step.step) + " has the action " + step.action +
                   ", which kerf's loop does not know");
  }
  answer.action = *action;
  const std::vector<trace::Fact> facts = trace::FlattenFacts(step.meta, "");
  answer.given = FactText(facts, "given") == "true";
  if (step.kind == RecordKind::kVerifier) {
    KERF_ASSIGN_OR_RETURN(answer.attempt.log, trace::ReadStepText(fs, op_dir, step, "error_log"));
    KERF_ASSIGN_OR_RETURN(answer.profile, trace::ReadStepText(fs, op_dir, step, "profile"));
    answer.attempt.step = step.step;
    answer.attempt.passed = step.verification == Verification::kPassed;
    answer.verify_res = answer.attempt.passed ? "True" : "False";
    answer.measurement = FactText(facts, "measurement");
    answer.verify_dir = FactText(facts, "verify_dir");
    answer.attempt.status = FactText(facts, "verdict.status");
    answer.attempt.reason = FactText(facts, "verdict.reason");
    answer.attempt.summary = FactText(facts, "verdict.summary");
    answer.attempt.speedup = trace::ReadStepFacts(step).speedup;
    return answer;
  }
  KERF_ASSIGN_OR_RETURN(answer.prompt, trace::ReadStepText(fs, op_dir, step, "prompt"));
  KERF_ASSIGN_OR_RETURN(answer.reasoning, trace::ReadStepText(fs, op_dir, step, "reasoning"));
  answer.finish = llm::ParseFinish(FactText(facts, "finish_reason"));
  KERF_ASSIGN_OR_RETURN(answer.reply, trace::ReadRawReply(fs, op_dir, step));
  return answer;
}

}  // namespace

Result<Playback> Playback::Read(FileSystem& fs, const std::string& log_dir, const std::string& op,
                                const std::string& task, int64_t until) {
  KERF_ASSIGN_OR_RETURN(const std::vector<trace::TaskSteps> tasks,
                        trace::ReadTasks(fs, log_dir, op, task));
  Playback playback;
  for (const Step& step : tasks.front().steps) {
    if (until >= 0 && step.step > until) break;
    KERF_ASSIGN_OR_RETURN(RecordedAnswer answer, ReadAnswer(fs, JoinPath(log_dir, op), step));
    if (playback.task_sha256_.empty()) {
      playback.task_sha256_ = FactText(trace::FlattenFacts(step.meta, ""), "task_sha256");
    }
    playback.answers_.push_back(std::move(answer));
  }
  return playback;
}

RecordedAnswer Playback::Take() {
  RecordedAnswer answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

}  // namespace kerf::conduct
