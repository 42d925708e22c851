// Stages come in the order of the program. Each one joins the group of its last producer when both
// can run row by row under the same outer loops; else it begins a group of its own. A group's outer
// loops may shrink when a reduction joins: what was an outer loop becomes one inside each pass.
#include "synth/fuse.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int kUnmapped = -1;
// Turns of the outer loops that keep the threads busy, and elements below which nobody needs to.
constexpr int64_t kEnoughTurnsPerThread = 4;
constexpr int64_t kSmallWork = 1 << 15;

struct Member {
  const Stage* stage = nullptr;
  std::vector<int> outer;  // for each outer loop the stage's variable
};

struct Draft {
  std::vector<int64_t> extents;  // of the outer loops
  std::vector<Member> members;
  bool closed = false;  // an algorithm of its own
};

class Fuser {
 public:
  Fuser(Plan& plan, const std::vector<Stage>& stages) : plan_(plan), stages_(stages) {}

  void Run() {
    plan_.storage.assign(plan_.program.tensors.size(), {});
    for (const Stage& stage : stages_) Insert(stage);
    for (const Draft& draft : drafts_) Finish(draft);
  }

 private:
  const Tensor& tensor(int id) const { return plan_.program.tensors[static_cast<size_t>(id)]; }
  int& group_of(int id) { return plan_.storage[static_cast<size_t>(id)].group; }

  void Insert(const Stage& stage) {
    const Tensor& made = tensor(stage.tensor);
    if (made.kind == TensorKind::kSpecial) return InsertSpecial(stage, made);
    int last = -1;
    VisitLoads(stage.body, [&](const Expr& load) { last = std::max(last, group_of(load.tensor)); });
    const int first = last >= 0 ? last : std::max(0, static_cast<int>(drafts_.size()) - 3);
    for (int g = first; g < static_cast<int>(drafts_.size()); ++g) {
      if (Join(stage, g)) return;
    }
    Draft draft;
    Member member{&stage, {}};
    for (size_t i = 0; i < stage.vars.size(); ++i) {
      if (!CanBeOuter(stage, i)) continue;
      draft.extents.push_back(stage.vars[i].extent);
      member.outer.push_back(static_cast<int>(i));
    }
    draft.members.push_back(std::move(member));
    group_of(stage.tensor) = static_cast<int>(drafts_.size());
    drafts_.push_back(std::move(draft));
  }

  // One run writes all results of a special algorithm.
  void InsertSpecial(const Stage& stage, const Tensor& made) {
    if (group_of(stage.tensor) >= 0) return;
    for (const int id : made.special.results) group_of(id) = static_cast<int>(drafts_.size());
    group_of(stage.tensor) = static_cast<int>(drafts_.size());
    Draft draft;
    draft.closed = true;
    draft.members.push_back({&stage, {}});
    drafts_.push_back(std::move(draft));
  }

  bool CanBeOuter(const Stage& stage, size_t var) const {
    const Tensor& made = tensor(stage.tensor);
    const StageVar& v = stage.vars[var];
    if (v.dim < 0 || v.extent == 1) return false;
    return made.kind != TensorKind::kScan || v.dim != made.axis;
  }

  static const Member* FindMember(const Draft& draft, int id) {
    for (const Member& member : draft.members) {
      if (member.stage->tensor == id) return &member;
    }
    return nullptr;
  }

  // For each outer loop the stage's variable that walks along it, if every row the stage reads of
  // the group's tensors is its own.
  std::optional<std::vector<int>> MapByLoads(const Stage& stage, const Draft& draft) const {
    const size_t count = draft.extents.size();
    std::vector<int> map(count, kUnmapped);
    std::vector<bool> bad(count, false);
    bool any = false;
    VisitLoads(stage.body, [&](const Expr& load) {
      const Member* producer = FindMember(draft, load.tensor);
      if (producer == nullptr) return;
      any = true;
      for (size_t k = 0; k < count; ++k) {
        const StageVar& v = producer->stage->vars[static_cast<size_t>(producer->outer[k])];
        const Index& along = load.indices[static_cast<size_t>(v.dim)];
        const int64_t whole = tensor(load.tensor).shape[static_cast<size_t>(v.dim)];
        Index coordinate = along.Div(v.weight);
        if (v.weight * v.extent != whole) coordinate = coordinate.Mod(v.extent);
        const auto var = coordinate.AsVar();
        const bool usable = var.has_value() && CanBeOuter(stage, static_cast<size_t>(*var)) &&
                            stage.vars[static_cast<size_t>(*var)].extent == v.extent;
        if (!usable || (map[k] != kUnmapped && map[k] != *var)) {
          bad[k] = true;
        } else {
          map[k] = *var;
        }
      }
    });
    if (!any) return std::nullopt;
    for (size_t k = 0; k < count; ++k) {
      if (bad[k]) map[k] = kUnmapped;
      for (size_t other = 0; other < k; ++other) {
        if (map[k] != kUnmapped && map[k] == map[other]) map[k] = kUnmapped;
      }
    }
    return map;
  }

  // Nothing of the group is read, but the loops are the same and so is some of the data.
  std::optional<std::vector<int>> MapBySight(const Stage& stage, const Draft& draft) const {
    std::vector<int> map;
    std::vector<int64_t> extents;
    for (size_t i = 0; i < stage.vars.size(); ++i) {
      if (!CanBeOuter(stage, i)) continue;
      map.push_back(static_cast<int>(i));
      extents.push_back(stage.vars[i].extent);
    }
    if (extents != draft.extents || extents.empty()) return std::nullopt;
    bool shares = false;
    VisitLoads(stage.body, [&](const Expr& load) {
      for (const Member& member : draft.members) {
        VisitLoads(member.stage->body, [&](const Expr& other) {
          shares = shares || (other.tensor == load.tensor && tensor(load.tensor).numel() > 64);
        });
      }
    });
    if (!shares) return std::nullopt;
    return map;
  }

  bool Join(const Stage& stage, int g) {
    Draft& draft = drafts_[static_cast<size_t>(g)];
    // A product wants its own tiling; only what is done with its elements joins it.
    if (draft.closed || tensor(stage.tensor).contraction) return false;
    auto map = MapByLoads(stage, draft);
    const bool product = tensor(draft.members[0].stage->tensor).contraction;
    if (product && tensor(stage.tensor).kind != TensorKind::kPointwise) return false;
    if (!map.has_value() && !product) map = MapBySight(stage, draft);
    if (!map.has_value()) return false;
    if (std::count(map->begin(), map->end(), kUnmapped) > 0 && !MayShrink(draft, stage, *map))
      return false;
    if (product && !SameLoops(stage, *map)) return false;
    if (plan_.options.whole_rows && GivesRow(draft, stage, *map)) return false;
    Member member{&stage, {}};
    std::vector<int64_t> extents;
    std::vector<size_t> kept;
    for (size_t k = 0; k < map->size(); ++k) {
      if ((*map)[k] == kUnmapped) continue;
      kept.push_back(k);
      extents.push_back(draft.extents[k]);
      member.outer.push_back((*map)[k]);
    }
    for (Member& old : draft.members) {
      std::vector<int> fewer;
      for (const size_t k : kept) fewer.push_back(old.outer[k]);
      old.outer = std::move(fewer);
    }
    draft.extents = std::move(extents);
    draft.members.push_back(std::move(member));
    group_of(stage.tensor) = g;
    return true;
  }

  // Whether a reduction would have loops inside the outer ones that it does not join.
  bool GivesRow(const Draft& draft, const Stage& stage, const std::vector<int>& map) const {
    const auto loops =
        map.size() - static_cast<size_t>(std::count(map.begin(), map.end(), kUnmapped));
    const auto inside = [&](const Stage& one) {
      if (tensor(one.tensor).kind != TensorKind::kReduce) return false;
      size_t kept = 0;
      for (size_t i = 0; i < one.vars.size(); ++i) kept += CanBeOuter(one, i) ? 1 : 0;
      return kept > loops;
    };
    return inside(stage) ||
           std::any_of(draft.members.begin(), draft.members.end(),
                       [&](const Member& member) { return inside(*member.stage); });
  }

  bool SameLoops(const Stage& stage, const std::vector<int>& map) const {
    size_t outer = 0;
    for (size_t i = 0; i < stage.vars.size(); ++i) outer += CanBeOuter(stage, i) ? 1 : 0;
    return std::count(map.begin(), map.end(), kUnmapped) == 0 && outer == map.size();
  }

  bool MayShrink(const Draft& draft, const Stage& stage, const std::vector<int>& map) const {
    int64_t before = 1;
    int64_t after = 1;
    for (size_t k = 0; k < map.size(); ++k) {
      before *= draft.extents[k];
      if (map[k] != kUnmapped) after *= draft.extents[k];
    }
    int64_t work = Work(stage);
    for (const Member& member : draft.members) {
      if (tensor(member.stage->tensor).contraction) return false;
      work += Work(*member.stage);
    }
    if (work <= kSmallWork) return true;
    return after >= std::min(before, kEnoughTurnsPerThread * plan_.options.threads) && after > 1;
  }

  static int64_t Work(const Stage& stage) {
    int64_t turns = 1;
    for (const StageVar& v : stage.vars) turns *= v.extent;
    return turns;
  }

  // Draft → group: variables are renamed so that outer loops are 0 … n-1.
  void Finish(const Draft& draft) {
    Group group;
    const int index = static_cast<int>(plan_.groups.size());
    if (draft.closed) {
      group.special = draft.members[0].stage->tensor;
      plan_.groups.push_back(std::move(group));
      return;
    }
    for (size_t k = 0; k < draft.extents.size(); ++k)
      group.outer.push_back({static_cast<int>(k), draft.extents[k]});
    next_var_ = static_cast<int>(draft.extents.size());
    made_in_.clear();
    for (const Member& member : draft.members) Place(group, member, index);
    plan_.groups.push_back(std::move(group));
  }

  struct Inner {
    std::vector<int> vars;  // of the stage, in loop order
    size_t kept = 0;
  };

  Inner InnerLoops(const Member& member) const {
    const Stage& stage = *member.stage;
    const Tensor& made = tensor(stage.tensor);
    Inner inner;
    int scanned = -1;
    const auto is_outer = [&](int i) {
      return std::find(member.outer.begin(), member.outer.end(), i) != member.outer.end();
    };
    for (int i = 0; i < static_cast<int>(stage.vars.size()); ++i) {
      const StageVar& v = stage.vars[static_cast<size_t>(i)];
      if (v.extent == 1 || is_outer(i)) continue;
      if (made.kind == TensorKind::kScan && v.dim == made.axis) {
        scanned = i;
      } else {
        inner.vars.push_back(i);
        if (v.dim >= 0) ++inner.kept;
      }
    }
    if (scanned >= 0) inner.vars.push_back(scanned);
    return inner;
  }

  void Place(Group& group, const Member& member, int group_index) {
    const Stage& stage = *member.stage;
    const Tensor& made = tensor(stage.tensor);
    const Inner inner = InnerLoops(member);
    const int pass = FindPass(group, member, inner);
    std::map<int, Index> names = OuterNames(group, member);
    Pass& target = group.passes[static_cast<size_t>(pass)];
    for (size_t i = 0; i < inner.vars.size(); ++i)
      names[inner.vars[i]] = Index::Var(target.loops[i].var, target.loops[i].extent);
    target.statements.push_back(Rename(stage, names));
    Storage& storage = plan_.storage[static_cast<size_t>(stage.tensor)];
    storage.group = group_index;
    storage.pass = pass;
    for (const int var : inner.vars) {
      const StageVar& v = stage.vars[static_cast<size_t>(var)];
      if (v.dim < 0) continue;
      storage.row.push_back(v);
      storage.row_elements *= v.extent;
    }
    if (made.kind != TensorKind::kReduce) target.kept = target.loops.size();
    made_in_[stage.tensor] = pass;
  }

  static std::map<int, Index> OuterNames(const Group& group, const Member& member) {
    std::map<int, Index> names;
    for (size_t k = 0; k < member.outer.size(); ++k)
      names[member.outer[k]] = Index::Var(group.outer[k].var, group.outer[k].extent);
    return names;
  }

  static Statement Rename(const Stage& stage, const std::map<int, Index>& names) {
    const auto replace = [&](int var, int64_t) {
      const auto at = names.find(var);
      return at == names.end() ? Index(0) : at->second;
    };
    Rewriter rewriter(replace, [](const ExprPtr& load) { return load; });
    Statement statement;
    statement.tensor = stage.tensor;
    statement.value = rewriter.Run(stage.body);
    for (const Index& index : stage.at) statement.at.push_back(rewriter.Run(index));
    return statement;
  }

  // A pass with the same loops that everything the stage reads allows, or a new one.
  int FindPass(Group& group, const Member& member, const Inner& inner) {
    const Stage& stage = *member.stage;
    const Tensor& made = tensor(stage.tensor);
    int earliest = 0;
    VisitLoads(stage.body, [&](const Expr& load) {
      const auto at = made_in_.find(load.tensor);
      if (at == made_in_.end()) return;
      earliest = std::max(earliest, at->second + (MayShareTurn(load.tensor) ? 0 : 1));
    });
    for (int p = earliest; p < static_cast<int>(group.passes.size()); ++p) {
      if (Fits(group, p, member, inner)) return p;
    }
    Pass pass;
    pass.kept = made.kind == TensorKind::kReduce ? inner.kept : inner.vars.size();
    for (const int var : inner.vars)
      pass.loops.push_back({next_var_++, stage.vars[static_cast<size_t>(var)].extent});
    group.passes.push_back(std::move(pass));
    return static_cast<int>(group.passes.size()) - 1;
  }

  // Element-wise results can be used in the turn that makes them; of a sum only the end is known.
  bool MayShareTurn(int id) const {
    const TensorKind kind = tensor(id).kind;
    return kind == TensorKind::kPointwise || kind == TensorKind::kScan;
  }

  bool Fits(const Group& group, int p, const Member& member, const Inner& inner) const {
    const Pass& pass = group.passes[static_cast<size_t>(p)];
    const Stage& stage = *member.stage;
    if (pass.loops.size() != inner.vars.size()) return false;
    for (size_t i = 0; i < inner.vars.size(); ++i) {
      if (pass.loops[i].extent != stage.vars[static_cast<size_t>(inner.vars[i])].extent)
        return false;
    }
    if (!SameShapeOfPass(pass, stage, inner)) return false;
    std::map<int, Index> names = OuterNames(group, member);
    for (size_t i = 0; i < inner.vars.size(); ++i)
      names[inner.vars[i]] = Index::Var(pass.loops[i].var, pass.loops[i].extent);
    const Statement statement = Rename(stage, names);
    bool ok = true;
    VisitLoads(statement.value, [&](const Expr& load) {
      for (const Statement& other : pass.statements) {
        if (other.tensor == load.tensor && !(other.at == load.indices)) ok = false;
      }
    });
    return ok;
  }

  // Reductions with loops of their own, and scans, only meet their like.
  bool SameShapeOfPass(const Pass& pass, const Stage& stage, const Inner& inner) const {
    const Tensor& made = tensor(stage.tensor);
    for (const Statement& other : pass.statements) {
      const Tensor& one = tensor(other.tensor);
      if (one.contraction || made.contraction) return false;
      if ((one.kind == TensorKind::kScan) != (made.kind == TensorKind::kScan) &&
          (one.kind == TensorKind::kReduce || made.kind == TensorKind::kReduce))
        return false;
      const bool other_reduces = one.kind == TensorKind::kReduce;
      const bool reduces = made.kind == TensorKind::kReduce;
      if (other_reduces && reduces) {
        if (plan_.storage[static_cast<size_t>(other.tensor)].row.size() != inner.kept) return false;
      } else if (other_reduces && !plan_.storage[static_cast<size_t>(other.tensor)].row.empty()) {
        return false;
      } else if (reduces && inner.kept > 0) {
        return false;
      }
    }
    return true;
  }

  Plan& plan_;
  const std::vector<Stage>& stages_;
  std::vector<Draft> drafts_;
  int next_var_ = 0;
  std::map<int, int> made_in_;  // tensor → pass of the group being finished
};

}  // namespace

void FuseStages(Plan& plan, const std::vector<Stage>& stages) {
  plan.groups.clear();
  Fuser(plan, stages).Run();
}

}  // namespace kerf::synth
