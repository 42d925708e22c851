#include "synth/stage.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"

namespace kerf::synth {
namespace {

constexpr int kMostInlined = 300;      // of one inlined expression: readable, and compiles fast
constexpr double kWorthStoring = 1.0;  // cycles per element that recomputing may cost
constexpr double kCheapValue = 2.0;    // cycles for a value that is the same for all elements

// Puts what is not stored in the place of its loads. Each load is worked out once: values that are
// made of several loads of the one before would otherwise double at every step.
class Inliner {
 public:
  Inliner(const Program& program, const std::vector<bool>& stored)
      : program_(program), stored_(stored) {}

  ExprPtr Body(int id) {
    Rewriter rewriter([](int var, int64_t extent) { return Index::Var(var, extent); },
                      [this](const ExprPtr& load) { return Replace(load); });
    return rewriter.Run(program_.tensors[static_cast<size_t>(id)].body);
  }

 private:
  ExprPtr Replace(const ExprPtr& load) {
    const auto id = static_cast<size_t>(load->tensor);
    const Tensor& tensor = program_.tensors[id];
    if (stored_[id] || tensor.kind != TensorKind::kPointwise) return load;
    if (const auto at = done_.find(load->hash); at != done_.end()) return at->second;
    Rewriter rewriter([&](int var, int64_t) { return load->indices[static_cast<size_t>(var)]; },
                      [this](const ExprPtr& inner) { return Replace(inner); });
    return done_[load->hash] = rewriter.Run(tensor.body);
  }

  const Program& program_;
  const std::vector<bool>& stored_;
  std::unordered_map<uint64_t, ExprPtr> done_;
};

ExprPtr InlinedBody(const Program& program, const std::vector<bool>& stored, int id) {
  return Inliner(program, stored).Body(id);
}

}  // namespace

std::vector<bool> Reachable(const Program& program) {
  std::vector<bool> used(program.tensors.size(), false);
  for (const int id : program.outputs) used[static_cast<size_t>(id)] = true;
  for (size_t i = program.tensors.size(); i-- > 0;) {
    if (!used[i]) continue;
    const Tensor& tensor = program.tensors[i];
    for (const int id : tensor.special.operands) used[static_cast<size_t>(id)] = true;
    for (const int id : tensor.special.results) used[static_cast<size_t>(id)] = true;
    if (tensor.body == nullptr) continue;
    VisitLoads(tensor.body,
               [&](const Expr& load) { used[static_cast<size_t>(load.tensor)] = true; });
  }
  return used;
}

namespace {

// Cost without loads: what recomputing would add.
double OwnCost(const ExprPtr& body) {
  double cost = 0;
  VisitExpr(body, [&](const ExprPtr& e) {
    if (e->op != Op::kLoad) cost += OpCost(e->op, e->type);
  });
  return cost;
}

}  // namespace

void VisitLoads(const ExprPtr& value, const std::function<void(const Expr&)>& visit) {
  VisitExpr(value, [&](const ExprPtr& e) {
    if (e->op == Op::kLoad) visit(*e);
  });
}

std::vector<bool> ChooseStored(const Program& program, const std::set<int>& inlined) {
  const size_t count = program.tensors.size();
  const std::vector<bool> used = Reachable(program);
  std::vector<bool> stored(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (used[i] && program.tensors[i].kind != TensorKind::kPointwise) stored[i] = true;
    if (used[i] && program.tensors[i].kind == TensorKind::kSpecial) {
      for (const int id : program.tensors[i].special.operands)
        stored[static_cast<size_t>(id)] = true;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const ConvolutionShape& c = program.tensors[i].convolution;
    if (!used[i] || c.input < 0) continue;
    stored[static_cast<size_t>(c.input)] = true;
    stored[static_cast<size_t>(c.weight)] = true;
  }
  for (const int id : program.outputs) stored[static_cast<size_t>(id)] = true;

  // Forward: costs as if everything were inlined, and a stop where expressions grow too large.
  std::vector<double> cost(count, 0);
  for (size_t i = 0; i < count; ++i) {
    if (!used[i] || program.tensors[i].body == nullptr) continue;
    const ExprPtr body = InlinedBody(program, stored, static_cast<int>(i));
    cost[i] = OwnCost(body);
    if (program.tensors[i].kind == TensorKind::kPointwise && ExprSize(body) > kMostInlined)
      stored[i] = true;
  }
  // Backward: how often each element would be computed.
  std::vector<double> work(count, 0);
  for (size_t i = count; i-- > 0;) {
    const Tensor& tensor = program.tensors[i];
    if (!used[i] || tensor.body == nullptr) continue;
    const auto numel = static_cast<double>(tensor.numel());
    if (tensor.kind == TensorKind::kPointwise && !stored[i] && numel > 0 &&
        inlined.count(static_cast<int>(i)) == 0) {
      const double again = work[i] / numel - 1;
      // Compilers take a single value out of the loop; a step of its own would cost a row.
      const bool free = numel == 1 && cost[i] <= kCheapValue;
      if (!free && again * cost[i] > kWorthStoring) stored[i] = true;
    }
    const double turns = stored[i] ? numel * static_cast<double>(tensor.terms()) : work[i];
    VisitLoads(tensor.body,
               [&](const Expr& load) { work[static_cast<size_t>(load.tensor)] += turns; });
  }
  return stored;
}

void CollectCuts(const Index& index, std::vector<std::set<int64_t>>& cuts) {
  index.VisitAtoms([&](const Atom& atom) {
    if (atom.kind != Atom::Kind::kDiv && atom.kind != Atom::Kind::kMod) return;
    int64_t unit = 1;
    const Index* inner = &atom.inner;
    if (inner->terms().size() == 1 && inner->constant() == 0 && inner->terms()[0].factor == 1 &&
        inner->terms()[0].atom->kind == Atom::Kind::kDiv) {
      unit = inner->terms()[0].atom->divisor;
      inner = &inner->terms()[0].atom->inner;
    }
    const auto var = inner->AsVar();
    if (!var.has_value() || static_cast<size_t>(*var) >= cuts.size()) return;
    cuts[static_cast<size_t>(*var)].insert(unit * atom.divisor);
    if (unit > 1) cuts[static_cast<size_t>(*var)].insert(unit);
  });
}

namespace {

void CollectCuts(const Program& program, const ExprPtr& body,
                 std::vector<std::set<int64_t>>& cuts) {
  VisitExpr(body, [&](const ExprPtr& e) {
    if (e->op == Op::kLoad) {
      CollectCuts(FlatIndex(program.tensors[static_cast<size_t>(e->tensor)].shape, e->indices),
                  cuts);
    } else if (e->op == Op::kIndexValue || e->op == Op::kInRange) {
      CollectCuts(e->index, cuts);
    }
  });
}

}  // namespace

std::vector<int64_t> Chain(const std::set<int64_t>& cuts, int64_t extent) {
  std::vector<int64_t> chain = {1};
  for (const int64_t cut : cuts) {
    if (cut > chain.back() && cut < extent && cut % chain.back() == 0 && extent % cut == 0)
      chain.push_back(cut);
  }
  return chain;
}

namespace {

Stage MakeStage(const Program& program, const std::vector<bool>& stored, int id, bool whole_depth) {
  const Tensor& tensor = program.tensors[static_cast<size_t>(id)];
  Stage stage;
  stage.tensor = id;
  std::vector<int64_t> extents = tensor.shape;
  extents.insert(extents.end(), tensor.reduced.begin(), tensor.reduced.end());
  ExprPtr body = tensor.body == nullptr ? nullptr : InlinedBody(program, stored, id);
  std::vector<std::set<int64_t>> cuts(extents.size());
  if (body != nullptr) CollectCuts(program, body, cuts);
  std::vector<Index> replaced(extents.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool kept = i < tensor.shape.size();
    const bool scanned = tensor.kind == TensorKind::kScan && static_cast<int>(i) == tensor.axis;
    const bool arg = tensor.kind == TensorKind::kReduce && IsArg(tensor.combine) && !kept;
    const bool depth = whole_depth && tensor.contraction && tensor.convolution.input < 0 && !kept;
    const std::vector<int64_t> chain =
        scanned || arg || depth ? std::vector<int64_t>{1} : Chain(cuts[i], extents[i]);
    for (size_t k = chain.size(); k-- > 0;) {
      const int64_t upper = k + 1 < chain.size() ? chain[k + 1] : extents[i];
      const StageVar var{static_cast<int>(stage.vars.size()), upper / chain[k],
                         kept ? static_cast<int>(i) : -1, chain[k]};
      if (extents[i] == 0) {
        stage.vars.push_back({var.id, 0, var.dim, 1});
        continue;
      }
      if (var.extent == 1 && !(k == 0 && extents[i] == 1)) continue;
      replaced[i] = replaced[i] + Index::Var(var.id, var.extent) * var.weight;
      stage.vars.push_back(var);
    }
  }
  for (size_t i = 0; i < tensor.shape.size(); ++i) stage.at.push_back(replaced[i]);
  if (body != nullptr) {
    Rewriter rewriter([&](int var, int64_t) { return replaced[static_cast<size_t>(var)]; },
                      [](const ExprPtr& load) { return load; });
    stage.body = rewriter.Run(body);
  }
  return stage;
}

}  // namespace

std::vector<Stage> MakeStages(const Program& program, const std::vector<bool>& stored,
                              bool whole_depth) {
  std::vector<Stage> stages;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    if (stored[i] && program.tensors[i].kind != TensorKind::kInput)
      stages.push_back(MakeStage(program, stored, static_cast<int>(i), whole_depth));
  }
  return stages;
}

}  // namespace kerf::synth
