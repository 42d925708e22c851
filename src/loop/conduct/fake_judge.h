// A judge that says what it was told, in order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loop/conduct/judge.h"

namespace kerf::conduct {

struct FakeVerdict {
  VerdictStatus status = VerdictStatus::kPassed;
  std::string reason;
  std::string summary;
  std::string log;
  double speedup = 0;  // 0: not measured
};

class FakeJudge : public Judge {
 public:
  Status cannot_prepare;  // an error: what Prepare() says

  explicit FakeJudge(std::vector<FakeVerdict> verdicts) : verdicts_(std::move(verdicts)) {}

  void Prepare(const TaskSpec& /*spec*/, Ready ready) override {
    ++prepared_;
    ready(cannot_prepare);
  }
  void Verify(const TaskSpec& spec, Candidate candidate, Done done, Tell /*tell*/) override {
    if (asked_ >= verdicts_.size()) return done(Unavailable("no verdict is left"));
    const FakeVerdict& said = verdicts_[asked_++];
    Judgement judgement;
    Verdict& verdict = judgement.verdict;
    verdict.status = said.status;
    verdict.reason = said.reason;
    verdict.summary = said.summary;
    verdict.log = said.log;
    verdict.op_name = spec.op_name;
    verdict.framework = spec.framework;
    verdict.impl = ImplName(candidate.impl);
    if (said.speedup > 0) {
      verdict.timing.emplace();
      verdict.timing->speedups.push_back({"eager", said.speedup, 0, 0, "faster"});
    }
    judgement.device = "cpu:0";
    judgement.seeds = {1};
    done(std::move(judgement));
  }
  void Stop() override {}

  [[nodiscard]] size_t prepared() const { return prepared_; }
  [[nodiscard]] size_t asked() const { return asked_; }

 private:
  const std::vector<FakeVerdict> verdicts_;
  size_t asked_ = 0;
  size_t prepared_ = 0;
};

}  // namespace kerf::conduct
