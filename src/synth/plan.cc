#include "synth/plan.h"

#include <algorithm>
#include <set>

#include "synth/fuse.h"
#include "synth/schedule.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

// Every output has memory of its own: an argument that is given back, and a tensor that is given
// twice, are copied.
void SeparateOutputs(Program& program) {
  std::set<int> seen;
  for (int& id : program.outputs) {
    const Tensor& tensor = program.tensors[static_cast<size_t>(id)];
    if (tensor.kind != TensorKind::kInput && seen.insert(id).second) continue;
    Tensor copy;
    copy.name = tensor.name + "_copy";
    copy.dtype = tensor.dtype;
    copy.shape = tensor.shape;
    copy.what = "copy";
    std::vector<Index> at;
    for (size_t i = 0; i < copy.shape.size(); ++i)
      at.push_back(Index::Var(static_cast<int>(i), copy.shape[i]));
    copy.body = Load(id, copy.dtype, at);
    program.tensors.push_back(std::move(copy));
    id = static_cast<int>(program.tensors.size()) - 1;
    seen.insert(id);
  }
}

// Tensors that were to be kept in a row but ended up in memory, where recomputing costs less.
std::set<int> BetterInlined(const Plan& plan) {
  constexpr double kDearerThanMemory = 3.0;
  std::set<int> ids;
  const std::set<int> outputs(plan.program.outputs.begin(), plan.program.outputs.end());
  std::set<int> operands;
  for (const Tensor& tensor : plan.program.tensors) {
    operands.insert(tensor.convolution.input);
    operands.insert(tensor.convolution.weight);
  }
  for (const Group& group : plan.groups) {
    if (group.special < 0) continue;
    const Special& special = plan.program.tensors[static_cast<size_t>(group.special)].special;
    operands.insert(special.operands.begin(), special.operands.end());
  }
  for (size_t i = 0; i < plan.storage.size(); ++i) {
    const Tensor& tensor = plan.program.tensors[i];
    const int id = static_cast<int>(i);
    const Storage& storage = plan.storage[i];
    // A row that leaves the core's cache is no better than memory.
    const int64_t row_bytes =
        storage.row_elements * static_cast<int64_t>(DTypeBytes(RegisterType(tensor.dtype)));
    const bool far = storage.place == Place::kGlobal ||
                     (storage.place == Place::kRow && row_bytes > plan.options.cache_bytes / 4);
    if (tensor.kind != TensorKind::kPointwise || !far) continue;
    if (outputs.count(id) > 0 || operands.count(id) > 0 || tensor.numel() < 4096) continue;
    double turns = 0;
    ExprPtr value;
    for (const Group& group : plan.groups) {
      for (const Pass& pass : group.passes) {
        for (const Statement& statement : pass.statements) {
          if (statement.tensor == id) value = statement.value;
          VisitLoads(statement.value, [&](const Expr& load) {
            if (load.tensor != id) return;
            const Tensor& reader = plan.program.tensors[static_cast<size_t>(statement.tensor)];
            turns += static_cast<double>(reader.numel()) * static_cast<double>(reader.terms());
          });
        }
      }
    }
    const double again = turns / static_cast<double>(tensor.numel());
    if (value != nullptr && again <= 3 && ExprSize(value) < 60 &&
        ExprCost(value) < kDearerThanMemory)
      ids.insert(id);
  }
  return ids;
}

}  // namespace

int64_t LoopTurns(const std::vector<Loop>& loops) {
  int64_t turns = 1;
  for (const Loop& loop : loops) turns *= loop.extent;
  return turns;
}

Plan MakePlan(Program program, const PlanOptions& options) {
  Plan plan;
  plan.options = options;
  SeparateOutputs(program);
  SplitReductions(program, options);
  plan.program = std::move(program);
  std::set<int> inlined = options.inlined;
  for (int round = 0; round < 3; ++round) {
    const std::vector<bool> stored = ChooseStored(plan.program, inlined);
    FuseStages(plan, MakeStages(plan.program, stored, options.blocks == 0));
    SchedulePlan(plan);
    const std::set<int> more = BetterInlined(plan);
    if (more.empty()) break;
    inlined.insert(more.begin(), more.end());
  }
  return plan;
}

}  // namespace kerf::synth
