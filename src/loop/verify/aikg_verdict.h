// The answer AIKG's verifier gives for one output, for comparing kerf's verdicts with AIKG's own.
// One limit is both the relative error an element may have and the share of elements that may
// exceed it, so that it accepts outputs kerf rejects; it decides nothing in kerf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loop/verify/element.h"

namespace kerf::verify {

// AIKG's verifier changed its formula; runs of both are in use.
enum class AikgGeneration { kSeed, kHead };
enum class AikgFramework { kTorch, kMindspore, kNumpy };

struct AikgVerdict {
  bool passed = false;
  double limit = 0;
  int64_t error_count = 0;
  int64_t allowed = 0;
  // Over the elements that were compared (all of them, or the finite ones at HEAD).
  double max_error = 0;
  double mean_error = 0;
  std::vector<int64_t> first_errors;  // flat indices, at most ten
  // AIKG's own line where it has a fixed one, otherwise what went wrong.
  std::string message;
};

// Elements are paired by their flat index: AIKG flattens both sides. It never looks at shapes.
AikgVerdict MakeAikgVerdict(const TensorView& reference, const TensorView& candidate,
                            AikgGeneration generation, AikgFramework framework);

}  // namespace kerf::verify
