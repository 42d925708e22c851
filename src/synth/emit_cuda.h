// A plan as the source of a kernel of impl `cuda_c` (include/kerf/kernel.h).
#pragma once

#include <string>
#include <variant>

#include "artifact/graph.h"
#include "synth/lower.h"
#include "synth/plan.h"

namespace kerf::synth {

// How groups are cut for a GPU: more partial sums, because there are more threads to fill.
PlanOptions CudaPlanOptions(int variant);

std::variant<std::string, Refusal> EmitCuda(Plan plan, const Graph& graph);

}  // namespace kerf::synth
