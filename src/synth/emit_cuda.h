// A plan as the source of a kernel of impl `cuda_c` (include/kerf/kernel.h).
#pragma once

#include <string>
#include <variant>

#include "artifact/graph.h"
#include "synth/lower.h"
#include "synth/plan.h"

namespace kerf::synth {

// The loops as a GPU wants them: more partial sums, and rows recomputed rather than stored.
Plan CudaPlan(Program program, int variant);
std::variant<std::string, Refusal> EmitCuda(Plan plan, const Graph& graph);

// Transposed convolutions as sums over the kernel's taps: then their weight's index is plain, and
// tiles can do them. On a CPU loops over the inputs are better, because they are clipped.
void WalkKernels(Program& program);

}  // namespace kerf::synth
