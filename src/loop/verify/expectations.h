// What the candidate's outputs are held against: the right answers of every case, and their error
// budgets.
//
// Made once for a task and used for any number of candidates; budgets are made when a case is first
// judged. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "artifact/verdict.h"
#include "loop/verify/blame.h"
#include "loop/verify/budget.h"
#include "loop/verify/call_files.h"
#include "loop/verify/compare.h"

namespace kerf::verify {

struct Judgement {
  Finding finding;
  std::vector<OutputReport> outputs;
  std::string log;  // the worst mismatches, for whoever repairs the candidate
};

class Expectations {
 public:
  // `reference` is borrowed.
  static Result<Expectations> Make(const Reference& reference, int threads);

  [[nodiscard]] const Reference& reference() const { return *reference_; }
  [[nodiscard]] size_t size() const { return cases_.size(); }
  [[nodiscard]] const ReferenceCase& one(size_t i) const { return reference_->cases.at(i); }
  [[nodiscard]] const Mapping& inputs(size_t i) const { return cases_.at(i).inputs; }
  // Output k of case i: the reference, the oracle, the run in lower precision.
  [[nodiscard]] Expected expected(size_t i, size_t k) const;
  const Budget& budget(size_t i, size_t k);
  // The snapshot of a call on case i.
  Judgement Judge(size_t i, const OutputFile& out);
  // What AIKG would say of it, in each of its generations.
  [[nodiscard]] std::vector<AikgReport> JudgeLikeAikg(size_t i, const OutputFile& out) const;

 private:
  struct Case {
    Mapping inputs;
    Mapping outputs;
    std::vector<std::optional<Budget>> budgets;  // one for each output
  };

  const Reference* reference_ = nullptr;
  std::vector<Case> cases_;
  int threads_ = 1;
};

}  // namespace kerf::verify
