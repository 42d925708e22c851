// Slots of a launch, for people and for scripts.
#pragma once

#include <string>

#include "artifact/workspace.h"
#include "cli/render/output.h"

namespace kerf::cli {

// One row per slot: kind, dtype and shape or value, where it came from.
std::string SlotTable(const KernelArgs& args, const Output& out);

// "float32 …": what runs, on which cores, with which arguments; one line.
std::string DescribePlan(const ReplayPlan& plan);

}  // namespace kerf::cli
