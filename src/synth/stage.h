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
// With `whole_depth` the sums of a product are over one loop, also where a reshape cuts it: tiles
// copy their operands anyway.
std::vector<Stage> MakeStages(const Program& program, const std::vector<bool>& stored,
                              bool whole_depth);

// By tensor: whether an output depends on it.
std::vector<bool> Reachable(const Program& program);

// The divisors by which reshapes cut a variable: v/15, (v/5)%3 and v%5 give 5 and 15. `cuts` has a
// set for each variable that counts.
void CollectCuts(const Index& index, std::vector<std::set<int64_t>>& cuts);
// Those that form a chain below the extent, from 1 on.
std::vector<int64_t> Chain(const std::set<int64_t>& cuts, int64_t extent);

void VisitLoads(const ExprPtr& value, const std::function<void(const Expr&)>& visit);

}  // namespace kerf::synth
