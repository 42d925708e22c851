// Loops joined where memory allows, vector lanes, threads, and the place of every tensor.
#pragma once

#include "synth/plan.h"

namespace kerf::synth {

void SchedulePlan(Plan& plan);

}  // namespace kerf::synth
