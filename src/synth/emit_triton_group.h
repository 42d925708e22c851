// One group of a plan as a Triton kernel.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "synth/plan.h"

namespace kerf::synth {

struct TritonKernel {
  std::string text;  // the decorated function; empty when there is nothing to do
  std::string name;
  std::vector<int> arguments;  // tensors, in the order of the parameters
  std::vector<int64_t> grid;
  std::string refused;  // why it cannot be written, else empty
  int refused_at = 0;   // the tensor it cannot be written for
};

TritonKernel EmitTritonGroup(const Plan& plan, int group, const std::vector<std::string>& names,
                             const std::string& function, std::set<std::string>& helpers);

}  // namespace kerf::synth
