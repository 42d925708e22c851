// Candidates that do nothing useful and must fail: zeros, ones, the mean, a copy of an input, the
// right answer shifted by one. If one of them passes, the case proves nothing
// (KernelBench accepted zeros on several problems because of a fixed tolerance).
#pragma once

#include <string>
#include <vector>

#include "loop/verify/compare.h"

namespace kerf::verify {

struct NamedView {
  std::string name;
  TensorView view;
};

struct NullBaseline {
  std::string name;  // "zeros", "ones", "mean", "shifted", "first half only", "copy of <name>"
  Comparison comparison;

  [[nodiscard]] bool passes() const { return comparison.right(); }
};

// `others` are inputs, the output of the previous case, the result without its last step: each
// that has the output's spec is tried as it is. An output that really is one of these (a copy, all
// zeros) makes a case that cannot be judged by values; that is for the caller to say.
std::vector<NullBaseline> RunNullBaselines(const Expected& expected, const Budget& budget,
                                           const std::vector<NamedView>& others, int threads);

}  // namespace kerf::verify
