// Algorithms that are no loops over independent elements, as C++ functions.
#pragma once

#include "synth/emit_group.h"

namespace kerf::synth {

GroupFunction EmitSpecial(const Plan& plan, int tensor, const EmitNames& names,
                          const std::string& function, std::set<std::string>& helpers);
// The one named "attention" (attention.h).
GroupFunction EmitAttentionStep(const Plan& plan, int tensor, const EmitNames& names,
                                const std::string& function, std::set<std::string>& helpers);

}  // namespace kerf::synth
