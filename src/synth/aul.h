// A plan as AUL: the Design that a person reads, and that a model may start from.
#pragma once

#include <string>

#include "artifact/graph.h"
#include "synth/plan.h"

namespace kerf::synth {

std::string WriteAul(const Plan& plan, const Graph& graph);
// Why the plan is as it is, in sentences.
std::string WriteRationale(const Plan& plan, const Graph& graph);

}  // namespace kerf::synth
