#include "loop/optimize/case_state.h"

#include <algorithm>
#include <set>

namespace kerf::optimize {
namespace {

bool Earlier(const Trial& a, const Trial& b) {
  return a.iteration != b.iteration ? a.iteration < b.iteration : a.line < b.line;
}

// Measured before unmeasured, then the larger speedup, then the earlier one: what is as good as the
// best does not replace it.
bool Better(const Trial& a, const Trial& b) {
  if (a.speedup.has_value() != b.speedup.has_value()) return a.speedup.has_value();
  if (a.speedup.has_value() && *a.speedup != *b.speedup) return *a.speedup > *b.speedup;
  return Earlier(a, b);
}

template <typename Fits>
const Trial* LastThat(const std::vector<Trial>& trials, const Fits& fits) {
  const auto found = std::find_if(trials.rbegin(), trials.rend(), fits);
  return found == trials.rend() ? nullptr : &*found;
}

}  // namespace

CaseState::CaseState(const Rules& rules)
    : rules_(rules), lines_(static_cast<size_t>(rules.descendants)) {}

Plan CaseState::PlanOf(int64_t line) const {
  const LineState& state = lines_.at(static_cast<size_t>(line));
  Plan plan;
  plan.last = state.last.has_value() ? &*state.last : nullptr;
  plan.reflect = line < rules_.reflect_limit;
  plan.improvements = state.improvements;
  const bool something = !ancestors_.empty();
  if (plan.last == nullptr || plan.last->code.empty()) {
    plan.mode = something ? Mode::kImprove : Mode::kFirst;
  } else if (plan.last->correct) {
    plan.mode = Mode::kImprove;
  } else if (state.repairs < rules_.debug_limit) {
    plan.mode = Mode::kDebug;
  } else {
    plan.mode = something ? Mode::kImprove : Mode::kFresh;
  }
  return plan;
}

void CaseState::EndIteration(std::vector<Trial> trials) {
  std::sort(trials.begin(), trials.end(), Earlier);
  round_begin_ = trials_.size();
  for (Trial& trial : trials) {
    LineState& line = lines_.at(static_cast<size_t>(trial.line));
    line.repairs = trial.mode == Mode::kDebug ? line.repairs + 1 : 0;
    line.improvements += trial.mode == Mode::kImprove ? 1 : 0;
    line.last = trial;
    trials_.push_back(std::move(trial));
  }
  Rank();
}

// From all trials each time, so that nothing good is ever lost on the way.
void CaseState::Rank() {
  std::vector<const Trial*> correct;
  for (const Trial& trial : trials_) {
    if (trial.correct) correct.push_back(&trial);
  }
  std::sort(correct.begin(), correct.end(),
            [](const Trial* a, const Trial* b) { return Better(*a, *b); });
  std::vector<Trial> ancestors;
  std::set<std::string> codes;
  for (const Trial* trial : correct) {
    if (static_cast<int64_t>(ancestors.size()) == rules_.population) break;
    if (codes.insert(trial->code).second) ancestors.push_back(*trial);
  }
  ancestors_ = std::move(ancestors);
}

const Trial* CaseState::Find(const std::string& code) const {
  const auto found = std::find_if(trials_.begin(), trials_.end(), [&](const Trial& trial) {
    return !trial.code.empty() && trial.code == code;
  });
  return found == trials_.end() ? nullptr : &*found;
}

std::vector<const Trial*> CaseState::LastRound() const {
  std::vector<const Trial*> round;
  for (size_t i = round_begin_; i < trials_.size(); ++i) round.push_back(&trials_[i]);
  return round;
}

const Trial* CaseState::LastCalled() const {
  return LastThat(trials_, [](const Trial& trial) { return trial.pass_call; });
}

const Trial* CaseState::LastExecuted() const {
  return LastThat(trials_, [](const Trial& trial) { return trial.pass_exe; });
}

const Trial* CaseState::LastCode() const {
  return LastThat(trials_, [](const Trial& trial) { return !trial.code.empty(); });
}

int64_t CaseState::repairs() const {
  int64_t most = 0;
  for (const LineState& line : lines_) most = std::max(most, line.repairs);
  return most;
}

}  // namespace kerf::optimize
