// A plan as the source of a kernel of impl `cpp` (include/kerf/kernel.h).
#pragma once

#include <string>
#include <vector>

#include "artifact/graph.h"
#include "synth/plan.h"

namespace kerf::synth {

std::string EmitCpp(const Plan& plan, const Graph& graph);

// Identifiers of all tensors, of the function of a group, and the values of a constant as an
// initializer's lines: the same for every language of C's family.
std::vector<std::string> NameTensors(const Plan& plan);
std::string NameGroup(const Plan& plan, int group);
std::string ConstantLines(const Tensor& tensor);

}  // namespace kerf::synth
