// Which stages share their outer loops, and in which passes.
#pragma once

#include "synth/plan.h"

namespace kerf::synth {

// Fills groups and storage of the plan.
void FuseStages(Plan& plan, const std::vector<Stage>& stages);

}  // namespace kerf::synth
