#include "synth/schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int64_t kVectorWorthy = 16;       // shortest innermost loop that fills vectors
constexpr int64_t kParallelWork = 1 << 15;  // turns, weighted by cost, that pay for waking threads

const Tensor& TensorOf(const Plan& plan, int id) {
  return plan.program.tensors[static_cast<size_t>(id)];
}

// Select(a && b && …, body, identity) with nothing but index ranges: the loops will be clipped.
void ExtractGuards(const Plan& plan, Statement& statement) {
  const Tensor& tensor = TensorOf(plan, statement.tensor);
  if (tensor.kind != TensorKind::kReduce) return;
  while (statement.value->op == Op::kSelect) {
    const ExprPtr identity = Identity(tensor.combine, statement.value->type);
    if (statement.value->args[2]->hash != identity->hash) return;
    std::vector<ExprPtr> open = {statement.value->args[0]};
    std::vector<Guard> guards;
    while (!open.empty()) {
      const ExprPtr one = open.back();
      open.pop_back();
      if (one->op == Op::kAnd) {
        open.insert(open.end(), one->args.begin(), one->args.end());
      } else if (one->op == Op::kInRange && one->index.IsAffine()) {
        guards.push_back({one->index, one->low, one->high});
      } else {
        return;
      }
    }
    statement.guards.insert(statement.guards.end(), guards.begin(), guards.end());
    statement.value = statement.value->args[1];
  }
}

// Moves guards from choices to the loads that need them, so that everything else can be computed
// without a branch.
class GuardPusher {
 public:
  explicit GuardPusher(const Plan& plan) : plan_(plan) {}

  ExprPtr Run(const ExprPtr& value, const ExprPtr& guard) {
    if (value->op == Op::kConst || value->op == Op::kIndexValue || value->op == Op::kInRange)
      return value;
    const std::pair key(value->hash, guard == nullptr ? uint64_t{0} : guard->hash);
    if (const auto at = done_.find(key); at != done_.end()) return at->second;
    return done_[key] = value->op == Op::kLoad ? RunLoad(value, guard) : RunOperation(value, guard);
  }

 private:
  ExprPtr RunOperation(const ExprPtr& value, const ExprPtr& guard) {
    Expr copy = *value;
    if (value->op == Op::kSelect && IsGuard(value->args[0])) {
      const ExprPtr& condition = value->args[0];
      const ExprPtr negated = Unary(Op::kNot, condition);
      return Select(Run(condition, guard),
                    Run(value->args[1], guard ? Both(guard, condition) : condition),
                    Run(value->args[2], guard ? Both(guard, negated) : negated));
    }
    bool changed = false;
    for (ExprPtr& arg : copy.args) {
      ExprPtr fresh = Run(arg, guard);
      changed = changed || fresh != arg;
      arg = std::move(fresh);
    }
    return changed ? Rebuilt(copy) : value;
  }

  static ExprPtr Rebuilt(const Expr& e) {
    if (e.op == Op::kSelect) return Select(e.args[0], e.args[1], e.args[2]);
    if (e.op == Op::kCast) return Cast(e.args[0], e.type);
    return e.args.size() == 1 ? Unary(e.op, e.args[0]) : Binary(e.op, e.args[0], e.args[1]);
  }

  static bool IsGuard(const ExprPtr& condition) {
    bool found = false;
    VisitExpr(condition, [&](const ExprPtr& e) { found = found || e->op == Op::kInRange; });
    return found;
  }

  ExprPtr RunLoad(const ExprPtr& load, const ExprPtr& guard) {
    if (guard == nullptr) return load;
    std::vector<Index> indices;
    bool by_data = false;
    for (const Index& index : load->indices) {
      by_data = by_data || !index.Range().has_value();
      indices.push_back(
          index.Replace([](int var, int64_t extent) { return Index::Var(var, extent); },
                        [&](const ExprPtr& value) { return Run(value, guard); }));
    }
    ExprPtr inner = indices == load->indices ? load : Load(load->tensor, load->type, indices);
    if (!by_data && InsideShape(TensorOf(plan_, load->tensor).shape, load->indices)) return inner;
    return Select(guard, inner, Integer(load->type, 0));
  }

  const Plan& plan_;
  std::map<std::pair<uint64_t, uint64_t>, ExprPtr> done_;  // by value and guard
};

// ---- joining loops ----

bool Mentions(const Index& index, int var) {
  bool found = false;
  index.VisitAtoms([&](const Atom& atom) {
    if (atom.kind == Atom::Kind::kDiv || atom.kind == Atom::Kind::kMod)
      found = found || atom.inner.Mentions(var);
  });
  return found;
}

bool CleanOf(const Plan& plan, const Statement& statement, int var) {
  bool clean = !Mentions(PlaceOf(plan, statement.tensor, statement.at), var);
  for (const Guard& guard : statement.guards) clean = clean && !Mentions(guard.index, var);
  VisitExpr(statement.value, [&](const ExprPtr& e) {
    if (e->op == Op::kLoad) {
      clean = clean && !Mentions(PlaceOf(plan, e->tensor, e->indices), var);
    } else {
      clean = clean && !Mentions(e->index, var);
    }
  });
  return clean;
}

Statement Substitute(const Statement& statement, const Index::Substitution& replace) {
  Rewriter rewriter(replace, [](const ExprPtr& load) { return load; });
  Statement fresh = statement;
  fresh.value = rewriter.Run(statement.value);
  for (Index& index : fresh.at) index = rewriter.Run(index);
  for (Guard& guard : fresh.guards) guard.index = rewriter.Run(guard.index);
  return fresh;
}

// Makes one loop of loops[i] and loops[i + 1] if no place then needs a division.
bool TryJoin(const Plan& plan, std::vector<Loop>& loops, size_t i, std::vector<Pass*> passes) {
  const Loop a = loops[i];
  const Loop b = loops[i + 1];
  const Loop joined{b.var, a.extent * b.extent};
  const Index m = Index::Var(joined.var, joined.extent);
  if (joined.extent == 0) return false;
  const auto replace = [&](int var, int64_t extent) {
    if (var == a.var) return m.Div(b.extent);
    if (var == b.var) return m.Mod(b.extent);
    return Index::Var(var, extent);
  };
  std::vector<std::vector<Statement>> fresh;
  for (const Pass* pass : passes) {
    fresh.emplace_back();
    for (const Statement& statement : pass->statements) {
      fresh.back().push_back(Substitute(statement, replace));
      if (!CleanOf(plan, fresh.back().back(), joined.var)) return false;
    }
  }
  for (size_t p = 0; p < passes.size(); ++p) passes[p]->statements = std::move(fresh[p]);
  loops[i] = joined;
  loops.erase(loops.begin() + static_cast<int64_t>(i) + 1);
  return true;
}

bool HasScan(const Plan& plan, const Pass& pass) {
  return std::any_of(pass.statements.begin(), pass.statements.end(), [&](const Statement& s) {
    return TensorOf(plan, s.tensor).kind == TensorKind::kScan;
  });
}

bool HasArg(const Plan& plan, const Pass& pass) {
  return std::any_of(pass.statements.begin(), pass.statements.end(), [&](const Statement& s) {
    return TensorOf(plan, s.tensor).kind == TensorKind::kReduce &&
           IsArg(TensorOf(plan, s.tensor).combine);
  });
}

void JoinLoops(const Plan& plan, Group& group) {
  for (Pass& pass : group.passes) {
    const size_t limit =
        HasScan(plan, pass) && !pass.loops.empty() ? pass.loops.size() - 1 : pass.loops.size();
    size_t end = limit;
    for (size_t i = end; i-- > 1;) {
      if (i == pass.kept || (HasArg(plan, pass) && i > pass.kept)) continue;
      const bool in_kept = i < pass.kept;
      if (TryJoin(plan, pass.loops, i - 1, {&pass}) && in_kept) --pass.kept;
    }
  }
  // A product's emitter wants rows and columns apart.
  if (TensorOf(plan, group.passes[0].statements[0].tensor).contraction) return;
  std::vector<Pass*> all;
  for (Pass& pass : group.passes) all.push_back(&pass);
  for (size_t i = group.outer.size(); i-- > 1;) TryJoin(plan, group.outer, i - 1, all);
}

// ---- places ----

void ChoosePlaces(Plan& plan) {
  std::set<int> outputs(plan.program.outputs.begin(), plan.program.outputs.end());
  const size_t count = plan.program.tensors.size();
  std::vector<bool> read_elsewhere(count, false), read_inside(count, false),
      read_other_pass(count, false);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    if (group.special >= 0) {
      for (const int id : TensorOf(plan, group.special).special.operands)
        read_elsewhere[static_cast<size_t>(id)] = true;
      for (const int id : TensorOf(plan, group.special).special.results)
        plan.storage[static_cast<size_t>(id)].place = Place::kGlobal;
    }
    for (size_t p = 0; p < group.passes.size(); ++p) {
      for (const Statement& statement : group.passes[p].statements) {
        VisitLoads(statement.value, [&](const Expr& load) {
          const auto id = static_cast<size_t>(load.tensor);
          const Storage& storage = plan.storage[id];
          if (storage.group != static_cast<int>(g)) {
            read_elsewhere[id] = true;
          } else {
            read_inside[id] = true;
            if (storage.pass != static_cast<int>(p)) read_other_pass[id] = true;
          }
        });
      }
    }
  }
  for (size_t id = 0; id < count; ++id) {
    Storage& storage = plan.storage[id];
    if (plan.program.tensors[id].kind == TensorKind::kInput) {
      storage.place = Place::kGlobal;
      continue;
    }
    if (storage.group < 0 || storage.place == Place::kGlobal) continue;
    const bool single = storage.row.empty();
    if (outputs.count(static_cast<int>(id)) > 0 || read_elsewhere[id]) {
      storage.place = Place::kGlobal;
      storage.also_scalar = single && read_inside[id];
    } else if (single) {
      storage.place = Place::kScalar;
    } else {
      storage.place = read_other_pass[id] || plan.program.tensors[id].kind == TensorKind::kReduce
                          ? Place::kRow
                          : Place::kRegister;
    }
    if (storage.place == Place::kRow)
      plan.groups[static_cast<size_t>(storage.group)].rows.push_back(static_cast<int>(id));
  }
}

// ---- lanes and threads ----

struct Access {
  Index place;
  double weight;
};

std::vector<Access> AccessesOf(const Plan& plan, const Group& group, const Pass& pass) {
  std::vector<Access> accesses;
  const double turns =
      static_cast<double>(LoopTurns(pass.loops)) * static_cast<double>(LoopTurns(group.outer));
  const auto add = [&](int id, const std::vector<Index>& indices, double weight) {
    const Place place = plan.storage[static_cast<size_t>(id)].place;
    if (place == Place::kGlobal || place == Place::kRow)
      accesses.push_back({PlaceOf(plan, id, indices), weight});
  };
  for (const Statement& statement : pass.statements) {
    const bool reduces = TensorOf(plan, statement.tensor).kind == TensorKind::kReduce;
    add(statement.tensor, statement.at,
        reduces ? turns / static_cast<double>(TensorOf(plan, statement.tensor).terms() + 1)
                : turns);
    VisitLoads(statement.value, [&](const Expr& load) { add(load.tensor, load.indices, turns); });
  }
  return accesses;
}

// +weight for each access that steps by one element or stays where it is, -weight for each that
// jumps.
double Score(const std::vector<Access>& accesses, int var) {
  double score = 0;
  for (const Access& access : accesses) {
    const auto stride = access.place.Stride(var);
    const bool good = stride.has_value() && *stride >= -1 && *stride <= 1;
    const bool fair = stride.has_value() && *stride > 0 && *stride <= 4;
    score += good ? access.weight : fair ? 0 : -access.weight;
  }
  return score;
}

void ChooseLane(const Plan& plan, Group& group) {
  bool any_loops = false;
  double row_score = 0;
  for (const Pass& pass : group.passes) {
    if (pass.loops.empty()) continue;
    any_loops = true;
    const std::vector<Access> accesses = AccessesOf(plan, group, pass);
    double best = -1e300;
    const bool scan = HasScan(plan, pass);
    best = scan ? Score(accesses, pass.loops.back().var) * 0.25
                : Score(accesses, pass.loops.back().var);
    if (!scan && pass.kept > 0 && pass.kept < pass.loops.size())
      best = std::max(best, Score(accesses, pass.loops[pass.kept - 1].var));
    double weight = 0;
    for (const Access& access : accesses) weight += access.weight;
    if (!scan && pass.loops.back().extent < kVectorWorthy) best = std::min(best, -0.5 * weight);
    row_score += best;
  }
  double lane_score = any_loops ? -1e300 : -2e300;
  int lane = -1;
  for (size_t k = 0; k < group.outer.size(); ++k) {
    double score = 0;
    double weight = 0;
    for (const Pass& pass : group.passes) {
      const std::vector<Access> accesses = AccessesOf(plan, group, pass);
      score += Score(accesses, group.outer[k].var);
      for (const Access& access : accesses) weight += access.weight;
    }
    if (any_loops && group.outer[k].extent < kVectorWorthy) score = std::min(score, -0.6 * weight);
    if (score >= lane_score) {
      lane_score = score;
      lane = static_cast<int>(k);
    }
  }
  group.lane = any_loops && row_score >= lane_score ? -1 : lane;
}

double GroupWork(const Group& group) {
  double work = 0;
  for (const Pass& pass : group.passes) {
    double cost = 0;
    for (const Statement& statement : pass.statements) cost += 0.3 + ExprCost(statement.value);
    work += cost * static_cast<double>(LoopTurns(pass.loops));
  }
  return work * static_cast<double>(LoopTurns(group.outer));
}

bool OnlyElements(const Group& group) {
  return group.passes.size() == 1 && group.passes[0].loops.empty();
}

void ChooseThreads(const Plan& plan, Group& group) {
  int64_t turns = LoopTurns(group.outer);
  const int threads = plan.options.threads;
  if (group.lane >= 0) {
    const int64_t extent = group.outer[static_cast<size_t>(group.lane)].extent;
    const int64_t others = extent == 0 ? 0 : turns / extent;
    int64_t tile = OnlyElements(group) ? extent : 256 << (plan.options.variant % 3);
    const int64_t wanted = int64_t{4} * threads;
    if (others < wanted) {
      const int64_t pieces =
          (wanted + std::max<int64_t>(others, 1) - 1) / std::max<int64_t>(others, 1);
      const int64_t share = std::max<int64_t>(16, ((extent + pieces - 1) / pieces + 15) / 16 * 16);
      if (OnlyElements(group)) {
        tile = std::max<int64_t>(share, std::min<int64_t>(extent, 4096));
      } else {
        tile = std::min(tile, share);
      }
    }
    group.lane_tile = std::max<int64_t>(1, std::min(tile, extent));
    turns = others * ((extent + group.lane_tile - 1) / std::max<int64_t>(1, group.lane_tile));
  }
  group.parallel =
      threads > 1 && turns > 1 && GroupWork(group) > static_cast<double>(kParallelWork);
}

// Rows side by side in memory: the kept loop innermost, sums in the row's buffer.
void ChooseInterchange(const Plan& plan, const Group& group, Pass& pass) {
  if (group.lane >= 0 || pass.kept == 0 || pass.kept == pass.loops.size()) return;
  if (HasArg(plan, pass) || pass.statements.size() != 1) return;
  const std::vector<Access> accesses = AccessesOf(plan, group, pass);
  const double kept = Score(accesses, pass.loops[pass.kept - 1].var);
  const double reduced = Score(accesses, pass.loops.back().var);
  pass.interchanged = kept > reduced || pass.loops.back().extent < kVectorWorthy;
}

}  // namespace

Index PlaceOf(const Plan& plan, int tensor, const std::vector<Index>& indices) {
  const Storage& storage = plan.storage[static_cast<size_t>(tensor)];
  const std::vector<int64_t>& shape = TensorOf(plan, tensor).shape;
  if (storage.place != Place::kRow) return FlatIndex(shape, indices);
  Index place(0);
  int64_t stride = storage.row_elements;
  for (const StageVar& v : storage.row) {
    stride /= v.extent;
    Index coordinate = indices[static_cast<size_t>(v.dim)].Div(v.weight);
    if (v.weight * v.extent != shape[static_cast<size_t>(v.dim)])
      coordinate = coordinate.Mod(v.extent);
    place = place + coordinate * stride;
  }
  return place;
}

void SchedulePlan(Plan& plan) {
  ChoosePlaces(plan);
  for (Group& group : plan.groups) {
    if (group.special >= 0) continue;
    for (Pass& pass : group.passes) {
      pass.kept = pass.loops.size();
      for (Statement& statement : pass.statements) {
        if (TensorOf(plan, statement.tensor).kind == TensorKind::kReduce)
          pass.kept = plan.storage[static_cast<size_t>(statement.tensor)].row.size();
        ExtractGuards(plan, statement);
        statement.value = GuardPusher(plan).Run(statement.value, nullptr);
      }
    }
    JoinLoops(plan, group);
    ChooseLane(plan, group);
    ChooseThreads(plan, group);
    for (Pass& pass : group.passes) ChooseInterchange(plan, group, pass);
  }
}

}  // namespace kerf::synth
