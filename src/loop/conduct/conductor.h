// Decides what comes next in a task. docs/loop.md has the rules and where they differ from AIKG's.
//
//   Conductor conductor(rules, start);
//   while (conductor.need().kind != Need::Kind::kStop) {
//     … do what need() says, then tell what came of it with one of the Take functions.
//   }
//
// A function of its answers: it has no input or output, no clock and no chance in it, so that a run
// is continued and replayed by giving it the same answers again. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "artifact/action.h"
#include "artifact/attempt.h"
#include "loop/conduct/reflection.h"

namespace kerf::conduct {

struct Rules {
  int64_t limit_steps = 10;
  bool coder_only = false;
  bool self_check = true;     // false: designs and code go on unchecked
  bool analyze_error = true;  // false: the code is to blame
  bool improve = false;       // go on after a pass
  int64_t plateau = 3;        // measured candidates in a row without a gain
  double gain = 1.02;         // what counts as one
};

// Where a task begins: AIKG's init_action_type, init_parsed_code and init_suggestions.
struct Start {
  ActionType action = ActionType::kDoDesigner;
  std::string design;
  std::string code;
  std::string suggestions;
};

struct Need {
  enum class Kind { kWork, kCheck, kAnalyze, kVerify, kStop };
  Kind kind = Kind::kWork;
  ActionType action = ActionType::kDoDesigner;  // whose work, or whose work is judged
  std::string because;                          // why this and not something else
  std::string suggestions;                      // for a repair
  std::string error_log;                        // for a repair or an analysis
  bool improve = false;                         // the code is right, make it faster
  std::string complaint;                        // not empty: the last answer could not be used
};

// What a designer's or coder's reply held; no code when it could not be used, and then why.
struct TakenCode {
  std::string code;
  std::string description;
  std::string complaint;
};

struct TakenCheck {
  std::optional<int64_t> result;  // nullopt: unusable
  std::string reason;
  std::string suggestions;
  std::string complaint;
};

class Conductor {
 public:
  Conductor(Rules rules, Start start);

  [[nodiscard]] const Need& need() const { return need_; }
  [[nodiscard]] const std::string& design() const { return design_; }
  [[nodiscard]] const std::string& code() const { return code_; }
  [[nodiscard]] const Reflection& reflection() const { return reflection_; }
  [[nodiscard]] int64_t steps() const { return steps_; }
  // How often this action was asked for before.
  [[nodiscard]] int64_t Round(ActionType action) const;

  // Each is called only when need() asks for it.
  void TakeCode(TakenCode taken);
  void TakeCheck(const TakenCheck& taken);
  // Instead of TakeCheck: a recording goes on without one, because its limit left no step for a
  // repair.
  void SkipCheck();
  // Nobody could be asked: the verifier costs nothing, and knows better.
  void CheckFailed();
  // From now on; what was done before under a larger limit stays.
  void LimitTo(int64_t steps);
  void TakeAnalysis(const TakenCheck& taken);
  void TakeVerdict(Attempt attempt);
  // Nothing more can be done: a budget is used up, the model cannot be reached, the user stopped.
  void Stop(std::string because);

 private:
  // The next action, unless a limit forbids it.
  void Go(ActionType action, std::string because, std::string suggestions = "",
          std::string error_log = "");
  void GoOn(std::string because);  // to the stage after the present one
  void AfterPass();
  [[nodiscard]] std::string LimitReached(ActionType action) const;

  Rules rules_;
  Need need_;
  std::string design_;
  std::string code_;
  std::string strategy_;  // the coder's own words on `code_`
  Reflection reflection_;
  int64_t steps_ = 0;     // actions begun
  int64_t repairs_ = 0;   // in a row
  int64_t unusable_ = 0;  // replies in a row
  bool asked_again_ = false;
  int64_t rounds_[7] = {};
};

}  // namespace kerf::conduct
