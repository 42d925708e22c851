// A plan as Python source with Triton kernels (impl `triton`): one kernel for each group, and a
// class ModelNew that launches them. Pointwise groups, reductions over whole rows and products of
// matrices are written; the rest is refused by name.
#pragma once

#include <string>
#include <variant>

#include "artifact/graph.h"
#include "synth/lower.h"
#include "synth/plan.h"

namespace kerf::synth {

// Rows are recomputed, because a Triton program has no memory of its own to keep them in.
Plan TritonPlan(const Program& program, int variant);
std::variant<std::string, Refusal> EmitTriton(const Plan& plan, const Graph& graph);

}  // namespace kerf::synth
