// From how a runner behaved to what that says about its candidate.
#pragma once

#include <string>

#include "artifact/verdict.h"
#include "loop/verify/runner.h"
#include "sandbox/outcome.h"

namespace kerf::verify {

struct Finding {
  VerdictStatus status = VerdictStatus::kPassed;
  std::string reason;
  std::string text;  // one line
  [[nodiscard]] bool bad() const { return status != VerdictStatus::kPassed; }
};

// What an answer says by itself; kPassed for an answer that needs no explanation.
Finding JudgeReply(const Exchange& exchange);

// The process is gone. `fault` is what its own handler told before, a hint only.
Finding JudgeOutcome(const sandbox::Outcome& outcome, const std::string& fault);

// Whether it went on working after it had answered, left processes, or loaded what it may not.
Finding JudgeWatch(const Exchange& exchange);

}  // namespace kerf::verify
