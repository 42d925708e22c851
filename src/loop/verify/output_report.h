// What a comparison says about a candidate: the finding, the entry in the verdict, the lines of the
// log.
#pragma once

#include <cstdint>
#include <string>

#include "artifact/tensor.h"
#include "artifact/verdict.h"
#include "loop/verify/blame.h"
#include "loop/verify/budget.h"
#include "loop/verify/compare.h"

namespace kerf::verify {

// `name` is the output's.
Finding FindingOf(const Comparison& comparison, const Budget& budget, const std::string& name);
OutputReport ReportOf(const Comparison& comparison, const Budget& budget, const std::string& name,
                      const TensorSpec& spec);
// The worst mismatches, for whoever repairs the candidate.
std::string LogOf(const Comparison& comparison, const std::string& name, const TensorSpec& spec,
                  int64_t seed);

}  // namespace kerf::verify
