// The tensors worth storing, each with the loops that make it. Everything else is inlined.
#pragma once

#include <set>
#include <vector>

#include "synth/plan.h"

namespace kerf::synth {

// Cuts reductions that have too few elements for the threads into partial ones.
void SplitReductions(Program& program, const PlanOptions& options);

// By tensor: is it stored? `inlined` are tensors that an earlier plan found better recomputed.
std::vector<bool> ChooseStored(const Program& program, const std::set<int>& inlined);

// In the order of the program, one for each stored tensor that is no input.
std::vector<Stage> MakeStages(const Program& program, const std::vector<bool>& stored);

void VisitLoads(const ExprPtr& value, const std::function<void(const Expr&)>& visit);

}  // namespace kerf::synth
