#include "loop/conduct/conductor.h"

#include <fmt/core.h>

#include <utility>

#include "artifact/verdict.h"

namespace kerf::conduct {
namespace {

bool IsRepair(ActionType action) {
  return action == ActionType::kFixDesigner || action == ActionType::kFixCoder;
}

ActionType StageAfter(ActionType action) {
  return IsDesigner(action) ? ActionType::kDoCoder : ActionType::kVerify;
}

ActionType RepairOf(ActionType action) {
  return IsDesigner(action) ? ActionType::kFixDesigner : ActionType::kFixCoder;
}

// Steps until a candidate is judged, the action itself included.
int64_t StepsToVerdict(ActionType action) {
  if (action == ActionType::kVerify) return 1;
  return IsDesigner(action) ? 3 : 2;
}

constexpr int64_t kMostRepairs = 2;

}  // namespace

Conductor::Conductor(Rules rules, Start start)
    : rules_(rules), design_(std::move(start.design)), code_(std::move(start.code)) {
  Go(start.action, "the task begins", std::move(start.suggestions));
}

int64_t Conductor::Round(ActionType action) const { return rounds_[static_cast<int>(action)] - 1; }

std::string Conductor::LimitReached(ActionType action) const {
  const int64_t left = rules_.limit_steps - steps_;
  if (left <= 0) return fmt::format("the limit of {} steps is reached", rules_.limit_steps);
  if (left < StepsToVerdict(action)) {
    return fmt::format("{} of {} steps are left: {} could not be verified any more", left,
                       rules_.limit_steps, ActionName(action));
  }
  return "";
}

void Conductor::Go(ActionType action, std::string because, std::string suggestions,
                   std::string error_log) {
  if (const std::string limit = LimitReached(action); !limit.empty()) return Stop(limit);
  ++steps_;
  ++rounds_[static_cast<int>(action)];
  repairs_ = IsRepair(action) ? repairs_ + 1 : 0;
  asked_again_ = false;
  need_ = {};
  need_.kind = action == ActionType::kVerify ? Need::Kind::kVerify : Need::Kind::kWork;
  need_.action = action;
  need_.because = std::move(because);
  need_.suggestions = std::move(suggestions);
  need_.error_log = std::move(error_log);
}

void Conductor::GoOn(std::string because) { Go(StageAfter(need_.action), std::move(because)); }

void Conductor::Stop(std::string because) {
  need_ = {};
  need_.kind = Need::Kind::kStop;
  need_.action = ActionType::kExit;
  need_.because = std::move(because);
}

void Conductor::TakeCode(TakenCode taken) {
  const ActionType action = need_.action;
  if (taken.code.empty()) {
    if (++unusable_ > 1) {
      return Stop(std::string("two replies in a row to ") + ActionName(action) +
                  " could not be used: " + taken.complaint);
    }
    Go(RepairOf(action), "the reply could not be used", need_.suggestions, need_.error_log);
    need_.complaint = std::move(taken.complaint);
    return;
  }
  unusable_ = 0;
  if (IsDesigner(action)) {
    design_ = std::move(taken.code);
  } else {
    code_ = std::move(taken.code);
    strategy_ = std::move(taken.description);
  }
  if (rules_.coder_only || !rules_.self_check) return GoOn("there is nobody to check it");
  if (IsCoder(action) && reflection_.Knows(code_)) return GoOn("the same code was judged before");
  if (IsRepair(action) && repairs_ >= kMostRepairs) {
    return GoOn("it was repaired twice in a row");
  }
  // A check is a call too: not when nothing could follow from it.
  if (!LimitReached(RepairOf(action)).empty()) return GoOn("no step is left for a repair");
  need_.kind = Need::Kind::kCheck;
  need_.because = "it is new";
}

void Conductor::TakeCheck(const TakenCheck& taken) {
  if (!taken.result.has_value() && !std::exchange(asked_again_, true)) {
    need_.complaint = taken.complaint;
    return;
  }
  if (taken.result == 0) {
    return Go(RepairOf(need_.action), "the check found: " + taken.reason, taken.suggestions);
  }
  GoOn(taken.result == 1 ? "the check found nothing wrong" : "the check gave no usable answer");
}

void Conductor::SkipCheck() { GoOn("it was not checked when it was recorded"); }

void Conductor::CheckFailed() { GoOn("it could not be checked"); }

void Conductor::LimitTo(int64_t steps) {
  rules_.limit_steps = steps;
  if (need_.kind != Need::Kind::kStop && steps_ > steps) {
    Stop(fmt::format("the limit of {} steps is reached", steps));
  }
}

void Conductor::TakeVerdict(Attempt attempt) {
  attempt.code = code_;
  attempt.strategy = strategy_;
  const std::string log = attempt.log;
  const bool passed = attempt.passed;
  reflection_.Add(std::move(attempt));
  if (passed) return AfterPass();
  const Attempt& failed = *reflection_.last();
  if (failed.status == VerdictStatusName(VerdictStatus::kTaskUnfit)) {
    return Stop("no code can mend the task: " + failed.summary);
  }
  if (rules_.coder_only || !rules_.analyze_error) {
    return Go(ActionType::kFixCoder, "the verifier found: " + failed.status, "", log);
  }
  // Asking for a diagnosis is a call too: not when nothing can follow from it.
  if (const std::string limit = LimitReached(ActionType::kFixCoder); !limit.empty()) {
    return Stop(limit);
  }
  need_.kind = Need::Kind::kAnalyze;
  need_.because = "the verifier found: " + failed.status;
  need_.error_log = log;
  asked_again_ = false;
}

void Conductor::TakeAnalysis(const TakenCheck& taken) {
  const bool usable = taken.result == 1 || taken.result == 2;
  if (!usable && !std::exchange(asked_again_, true)) {
    need_.complaint =
        taken.complaint.empty() ? "result must be 1 (design) or 2 (code)" : taken.complaint;
    return;
  }
  const std::string log = need_.error_log;
  if (usable && taken.result == 1 && LimitReached(ActionType::kFixDesigner).empty()) {
    return Go(ActionType::kFixDesigner, "the design is to blame: " + taken.reason,
              taken.suggestions, log);
  }
  Go(ActionType::kFixCoder,
     usable ? "the code is to blame: " + taken.reason : "the analysis gave no usable answer",
     taken.suggestions, log);
}

void Conductor::AfterPass() {
  if (!rules_.improve) return Stop("it passed");
  const auto& attempts = reflection_.attempts();
  // How many measured candidates in a row did not beat what came before them.
  int64_t without_gain = 0;
  double best = 0;
  for (const Attempt& attempt : attempts) {
    if (!attempt.passed || !attempt.speedup.has_value()) continue;
    without_gain = *attempt.speedup > best * rules_.gain ? 0 : without_gain + 1;
    best = std::max(best, *attempt.speedup);
  }
  if (without_gain >= rules_.plateau) {
    return Stop(fmt::format("{} candidates in a row were not faster", without_gain));
  }
  code_ = reflection_.best()->code;
  Go(ActionType::kFixCoder, "it passed; a faster one is looked for");
  need_.improve = need_.kind == Need::Kind::kWork;
}

}  // namespace kerf::conduct
