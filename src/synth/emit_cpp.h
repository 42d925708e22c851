// A plan as the source of a kernel of impl `cpp` (include/kerf/kernel.h).
#pragma once

#include <string>

#include "artifact/graph.h"
#include "synth/plan.h"

namespace kerf::synth {

std::string EmitCpp(const Plan& plan, const Graph& graph);

}  // namespace kerf::synth
