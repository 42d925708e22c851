// What is known about a case after each iteration: its ancestors, and where its lines stand.
//
//   CaseState state(rules);
//   const Plan plan = state.PlanOf(line);      // for every line
//   state.EndIteration(std::move(trials));     // in whatever order they came
//
// A function of its trials: no input or output, no clock, no chance. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop/optimize/trial.h"

namespace kerf::optimize {

struct Plan {
  Mode mode = Mode::kFirst;
  const Trial* last = nullptr;  // of the line; null when there is none
  bool reflect = false;
  int64_t improvements = 0;  // that the line has asked for before
};

class CaseState {
 public:
  explicit CaseState(const Rules& rules);

  [[nodiscard]] Plan PlanOf(int64_t line) const;
  // At most one for each line.
  void EndIteration(std::vector<Trial> trials);

  // Best first; equal codes once.
  [[nodiscard]] const std::vector<Trial>& ancestors() const { return ancestors_; }
  // An earlier one with this code that was judged; null when there is none.
  [[nodiscard]] const Trial* Find(const std::string& code) const;
  // Of all iterations, by iteration and line.
  [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
  // Of the iteration that ended last.
  [[nodiscard]] std::vector<const Trial*> LastRound() const;
  // The last one that passed the stage, and the last one with any code; null when there is none.
  [[nodiscard]] const Trial* LastCalled() const;
  [[nodiscard]] const Trial* LastExecuted() const;
  [[nodiscard]] const Trial* LastCode() const;
  // Repairs in a row, of the line that has most.
  [[nodiscard]] int64_t repairs() const;

 private:
  struct LineState {
    std::optional<Trial> last;
    int64_t repairs = 0;
    int64_t improvements = 0;
  };

  void Rank();

  const Rules rules_;
  std::vector<LineState> lines_;
  std::vector<Trial> trials_;
  std::vector<Trial> ancestors_;
  size_t round_begin_ = 0;  // of the last iteration, in trials_
};

}  // namespace kerf::optimize
