// Whether a task can tell right from wrong: candidates that do nothing useful must fail on it.
#pragma once

#include <string>
#include <vector>

#include "loop/verify/expectations.h"

namespace kerf::verify {

struct Unfitness {
  std::string reason;  // of status task_unfit
  std::string text;
};

// Empty when the task is fit. A null baseline counts only when it passes every case: one that is
// right now and then (a row of zeros) still fails as a candidate.
std::vector<Unfitness> FindUnfitness(Expectations& expectations, int threads);

}  // namespace kerf::verify
