// One pass: loops, the vector loop innermost, and what happens before and after it.
#include <algorithm>

#include "base/check.h"
#include "synth/emit_group.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

// Independent partial results that hide the latency of additions: four vectors of eight floats.
constexpr int64_t kLanes = 32;
// Terms that float32 partial sums may have before they go over to float64 (docs/synth.md).
constexpr int64_t kLongSum = 4096;
// The same where a column has one sum: a plain loop, which budgets for reductions allow for.
constexpr int64_t kLongColumn = 2048;
constexpr int64_t kWorthBlocks = 1024;

}  // namespace

int64_t GroupEmitter::InnermostExtent(const Pass& pass) const {
  return pass.loops.empty() ? 1 : pass.loops.back().extent;
}

bool GroupEmitter::UsesVectorParts(const Pass& pass) const {
  return !lanes() && !pass.interchanged && pass.kept < pass.loops.size() &&
         InnermostExtent(pass) >= kLanes;
}

bool GroupEmitter::UsesBlocks(const Pass& pass, const Statement& s) const {
  if (!UsesVectorParts(pass) || InnermostExtent(pass) < kWorthBlocks) return false;
  return std::all_of(pass.statements.begin(), pass.statements.end(),
                     [&](const Statement& one) {
                       return !Reduces(one) || (tensor(one.tensor).combine == Combine::kSum &&
                                                one.value->type == DType::kFloat32);
                     }) &&
         Reduces(s) && tensor(s.tensor).terms() > kLongSum;
}

DType GroupEmitter::AccumulatorType(const Pass& pass, const Statement& s) const {
  const Tensor& t = tensor(s.tensor);
  // A running sum is as long as the axis; the reference keeps it in float64 too.
  if (Scans(s) && s.value->type == DType::kFloat32 &&
      (t.combine == Combine::kSum || t.combine == Combine::kProd ||
       t.combine == Combine::kLogSumExp))
    return DType::kFloat64;
  if (t.combine == Combine::kSum && s.value->type == DType::kFloat32 && Reduces(s) &&
      (t.wide || t.terms() > (lanes() ? kLongColumn : kLongSum)) && !UsesBlocks(pass, s))
    return DType::kFloat64;
  return s.value->type;
}

std::string GroupEmitter::JoinText(Combine combine, DType type, const std::string& a,
                                   const std::string& b) {
  const bool is_float = IsFloat(type);
  const std::string number = is_float ? "_nan" : "_int";
  switch (combine) {
    case Combine::kSum:
      return a + " + " + b;
    case Combine::kProd:
      return a + " * " + b;
    case Combine::kMax:
      helpers_.insert("max" + number);
      return "max" + number + "(" + a + ", " + b + ")";
    case Combine::kMin:
      helpers_.insert("min" + number);
      return "min" + number + "(" + a + ", " + b + ")";
    case Combine::kAny:
      return a + " | " + b;
    case Combine::kAll:
      return a + " & " + b;
    case Combine::kLogSumExp:
      helpers_.insert("log_add_exp");
      return "log_add_exp<" + std::string(CppType(type)) + ">(" + a + ", " + b + ")";
    case Combine::kArgMax:
    case Combine::kArgMin:
      break;
  }
  return "";
}

// ---- bounds ----

// Loops run only where every guard of their reductions holds.
GroupEmitter::Bounds GroupEmitter::BoundsOf(const Pass& pass, int var, int64_t extent,
                                            const std::string& begin, const std::string& end) {
  Bounds bounds{begin, end};
  const auto place = [&](int v) {
    return std::find(order_.begin(), order_.end(), v) - order_.begin();
  };
  for (const Guard& guard : pass.statements[0].guards) {
    std::vector<int> vars;
    guard.index.CollectVars(vars);
    int innermost = -1;
    for (const int v : vars) {
      if (innermost < 0 || place(v) > place(innermost)) innermost = v;
    }
    if (innermost != var) continue;
    const int64_t factor = *guard.index.Stride(var);
    const Index rest = guard.index - Index::Var(var, extent) * factor;
    const int64_t size = std::abs(factor);
    const Index low = factor > 0 ? Index(guard.low) - rest : rest - Index(guard.high - 1);
    const Index high = factor > 0 ? Index(guard.high) - rest : rest - Index(guard.low - 1);
    const auto text = [&](const Index& index) {
      if (size == 1) return writer_.Text(index);
      helpers_.insert("ceil_div");
      return "ceil_div(" + writer_.Text(index) + ", " + std::to_string(size) + ")";
    };
    // A bound that can never bite is left out.
    const auto low_range = low.Range();
    const auto high_range = high.Range();
    if (!low_range.has_value() || low_range->most > 0)
      bounds.begin = "std::max<int64_t>(" + bounds.begin + ", " + text(low) + ")";
    if (!high_range.has_value() || high_range->least < extent * size)
      bounds.end = "std::min<int64_t>(" + bounds.end + ", " + text(high) + ")";
  }
  return bounds;
}

// Guards that are decided before the loops `from` on.
std::string GroupEmitter::OuterGuard(const Pass& pass, size_t from) {
  std::string text;
  std::set<int> inner;
  for (size_t i = from; i < pass.loops.size(); ++i) inner.insert(pass.loops[i].var);
  if (lanes()) inner.insert(group_.outer[static_cast<size_t>(group_.lane)].var);
  for (const Guard& guard : pass.statements[0].guards) {
    std::vector<int> vars;
    guard.index.CollectVars(vars);
    const bool decided =
        std::none_of(vars.begin(), vars.end(), [&](int v) { return inner.count(v) > 0; });
    if (!decided) continue;
    const std::string index = writer_.Text(guard.index);
    text += (text.empty() ? "" : " && ") + index + " >= " + std::to_string(guard.low) + " && " +
            index + " < " + std::to_string(guard.high);
  }
  return text;
}

// ---- statements ----

bool GroupEmitter::LoadedLater(const Pass& pass, size_t index) const {
  bool found = false;
  for (size_t i = index + 1; i < pass.statements.size(); ++i) {
    VisitLoads(pass.statements[i].value, [&](const Expr& load) {
      found = found || load.tensor == pass.statements[index].tensor;
    });
  }
  return found;
}

// The place of this turn among the reduced ones.
std::string GroupEmitter::PlaceInReduction(const Pass& pass) {
  Index place(0);
  for (size_t i = pass.kept; i < pass.loops.size(); ++i)
    place = place * pass.loops[i].extent + Index::Var(pass.loops[i].var, pass.loops[i].extent);
  return writer_.Text(place);
}

void GroupEmitter::JoinTerm(const Statement& s, const std::string& value) {
  const Tensor& t = tensor(s.tensor);
  const std::string acc = name(s.tensor) + "_acc" + part_suffix_;
  if (!IsArg(t.combine)) {
    const DType type = AccumulatorType(*pass_, s);
    if (t.combine == Combine::kSum) {
      code_.Line(acc + " += " + Unwrapped(value) + ";");
    } else {
      code_.Line(acc + " = " + JoinText(t.combine, type, acc, value) + ";");
    }
    return;
  }
  helpers_.insert("first_better");
  const std::string place = name(s.tensor) + "_place" + part_suffix_;
  const std::string term = name(s.tensor) + "_term";
  code_.Line("const " + std::string(CppType(s.value->type)) + " " + term + " = " +
             Unwrapped(value) + ";");
  code_.Line("const bool " + name(s.tensor) + "_better = first_better<" +
             (t.combine == Combine::kArgMax ? "true" : "false") + ">(" + acc + ", " + term + ");");
  code_.Line(place + " = " + name(s.tensor) + "_better ? " + PlaceInReduction(*pass_) + " : " +
             place + ";");
  code_.Line(acc + " = " + name(s.tensor) + "_better ? " + term + " : " + acc + ";");
}

void GroupEmitter::EmitStatement(const Pass& pass, size_t index) {
  const Statement& s = pass.statements[index];
  const Tensor& t = tensor(s.tensor);
  writer_.NameParts(s.value, code_, [this](const Expr& load) { return MayName(load); });
  std::string value = writer_.Text(s.value);
  if (Reduces(s)) return JoinTerm(s, value);
  const std::string type = CppType(t.dtype);
  if (Scans(s)) {
    const std::string run = name(s.tensor) + "_run" + part_suffix_;
    const DType run_type = AccumulatorType(pass, s);
    code_.Line(run + " = " + JoinText(t.combine, run_type, run, value) + ";");
    value = run_type == s.value->type ? run : "static_cast<" + type + ">(" + run + ")";
  }
  const Place place = storage(s.tensor).place;
  const bool scalar = place == Place::kScalar || storage(s.tensor).also_scalar;
  if (scalar) {
    if (lanes()) {
      code_.Line(ScalarName(s.tensor) + LaneIndex() + " = " + Unwrapped(value) + ";");
    } else {
      code_.Line("const " + type + " " + ScalarName(s.tensor) + " = " + Unwrapped(value) + ";");
    }
    if (place == Place::kGlobal)
      code_.Line(StoreText(s.tensor, s.at, ScalarName(s.tensor) + (lanes() ? LaneIndex() : "")));
    return;
  }
  if (LoadedLater(pass, index)) {
    code_.Line("const " + type + " " + name(s.tensor) + "_now = " + Unwrapped(value) + ";");
    in_register_.insert(s.tensor);
    value = name(s.tensor) + "_now";
  }
  if (place == Place::kGlobal || place == Place::kRow) code_.Line(StoreText(s.tensor, s.at, value));
}

void GroupEmitter::EmitBody(const Pass& pass) {
  std::vector<ExprPtr> values;
  for (const Statement& s : pass.statements) values.push_back(s.value);
  writer_.Begin(values);
  in_register_.clear();
  for (size_t i = 0; i < pass.statements.size(); ++i) EmitStatement(pass, i);
  in_register_.clear();
}

// ---- before and after the loops ----

void GroupEmitter::DeclareAccumulators(const Pass& pass) {
  const bool parts = UsesVectorParts(pass);
  for (const Statement& s : pass.statements) {
    const Tensor& t = tensor(s.tensor);
    if (!Reduces(s) && !Scans(s)) continue;
    const std::string own = name(s.tensor) + (Scans(s) ? "_run" : "_acc");
    const DType type = AccumulatorType(pass, s);
    const std::string first = Literal(*Identity(t.combine, type));
    const std::string cpp = CppType(type);
    const bool zero = t.combine == Combine::kSum || t.combine == Combine::kAny;
    if (UsesBlocks(pass, s)) {
      code_.Line("double " + own + "_total = 0;");
      continue;
    }
    if (!lanes() && !parts) {
      code_.Line(cpp + " " + own + " = " + first + ";");
      if (IsArg(t.combine)) code_.Line("int64_t " + name(s.tensor) + "_place = 0;");
      continue;
    }
    const std::string count = lanes() ? "kTile" : "kLanes";
    code_.Line(cpp + " " + own + "[" + count + "]" + (zero ? " = {};" : ";"));
    if (!zero) code_.Line("std::fill_n(" + own + ", " + count + ", " + first + ");");
    if (IsArg(t.combine)) code_.Line("int64_t " + name(s.tensor) + "_place[" + count + "] = {};");
  }
}

void GroupEmitter::FinishReductions(const Pass& pass) {
  for (const Statement& s : pass.statements) {
    if (!Reduces(s)) continue;
    const Tensor& t = tensor(s.tensor);
    const std::string acc = name(s.tensor) + "_acc";
    const DType type = AccumulatorType(pass, s);
    const bool scalar = storage(s.tensor).place == Place::kScalar || storage(s.tensor).also_scalar;
    const std::string cpp = CppType(t.dtype);
    std::string result = acc;
    DType result_type = type;
    if (lanes()) {
      result = (IsArg(t.combine) ? name(s.tensor) + "_place" : acc) + LaneIndex();
    } else if (UsesBlocks(pass, s)) {
      result = acc + "_total";
      result_type = DType::kFloat64;
    } else if (UsesVectorParts(pass)) {
      if (IsArg(t.combine)) {
        helpers_.insert("first_better");
        const std::string place = name(s.tensor) + "_place";
        const std::string largest = t.combine == Combine::kArgMax ? "true" : "false";
        code_.Open("for (int lane = 1; lane < kLanes; ++lane)");
        code_.Line("const bool tie = !first_better<" + largest + ">(" + acc + "[lane], " + acc +
                   "[0]) && " + place + "[lane] < " + place + "[0];");
        code_.Open("if (first_better<" + largest + ">(" + acc + "[0], " + acc + "[lane]) || tie)");
        code_.Line(acc + "[0] = " + acc + "[lane];");
        code_.Line(place + "[0] = " + place + "[lane];");
        code_.Close();
        code_.Close();
        result = place + "[0]";
      } else if (t.combine == Combine::kSum) {
        helpers_.insert("fold_sum");
        result = "fold_sum(" + acc + ")";
      } else {
        helpers_.insert("fold");
        const std::string arg = CppType(type);
        result = "fold(" + acc + ", [](" + arg + " a, " + arg + " b) { return " +
                 JoinText(t.combine, type, "a", "b") + "; })";
      }
    } else if (IsArg(t.combine)) {
      result = name(s.tensor) + "_place";
    }
    if (IsArg(t.combine)) result_type = DType::kInt64;
    if (std::string(CppType(result_type)) != cpp)
      result = "static_cast<" + cpp + ">(" + result + ")";
    if (lanes()) {
      if (scalar) code_.Line(cpp + " " + ScalarName(s.tensor) + "[kTile];");
      code_.Line("#pragma omp simd");
      code_.Open("for (int64_t col = col0; col < col_end; ++col)");
      if (scalar) code_.Line(ScalarName(s.tensor) + LaneIndex() + " = " + result + ";");
      if (storage(s.tensor).place != Place::kScalar) code_.Line(StoreText(s.tensor, s.at, result));
      code_.Close();
      continue;
    }
    if (scalar) {
      code_.Line("const " + cpp + " " + ScalarName(s.tensor) + " = " + result + ";");
      result = ScalarName(s.tensor);
    }
    if (storage(s.tensor).place != Place::kScalar) code_.Line(StoreText(s.tensor, s.at, result));
  }
}

// ---- loops ----

void GroupEmitter::EmitLaneLoop(const Pass& pass) {
  const Loop& lane = group_.outer[static_cast<size_t>(group_.lane)];
  const Bounds bounds = BoundsOf(pass, lane.var, lane.extent, "col0", "col_end");
  code_.Line("#pragma omp simd");
  code_.Open("for (int64_t col = " + bounds.begin + "; col < " + bounds.end + "; ++col)");
  part_suffix_ = LaneIndex();
  EmitBody(pass);
  part_suffix_.clear();
  code_.Close();
}

void GroupEmitter::EmitVectorLoop(const Pass& pass, const Loop& loop, const Bounds& bounds) {
  const std::string var = VarName(loop.var);
  code_.Open("const auto turn = [&](int64_t " + var + ", int lane)");
  part_suffix_ = "[lane]";
  EmitBody(pass);
  part_suffix_.clear();
  code_.Close(";");
  code_.Line("int64_t at = " + bounds.begin + ";");
  code_.Open("for (; at + kLanes <= " + bounds.end + "; at += kLanes)");
  code_.Line("#pragma omp simd");
  code_.Line("for (int lane = 0; lane < kLanes; ++lane) turn(at + lane, lane);");
  code_.Close();
  const bool exact =
      bounds.begin == "0" && bounds.end == std::to_string(loop.extent) && loop.extent % kLanes == 0;
  if (!exact) code_.Line("for (; at < " + bounds.end + "; ++at) turn(at, 0);");
}

void GroupEmitter::EmitBlockedSum(const Pass& pass, const Loop& loop) {
  const Bounds bounds = BoundsOf(pass, loop.var, loop.extent, "0", std::to_string(loop.extent));
  code_.Comment("float32 within a block of kBlock terms, float64 across blocks.");
  code_.Line("constexpr int64_t kBlock = 4096;");
  code_.Line("const int64_t last = " + bounds.end + ";");
  code_.Open("for (int64_t block = " + bounds.begin + "; block < last; block += kBlock)");
  code_.Line("const int64_t block_end = std::min(block + kBlock, last);");
  for (const Statement& s : pass.statements) {
    if (Reduces(s)) code_.Line("float " + name(s.tensor) + "_acc[kLanes] = {};");
  }
  EmitVectorLoop(pass, loop, {"block", "block_end"});
  helpers_.insert("fold_sum");
  for (const Statement& s : pass.statements) {
    if (Reduces(s))
      code_.Line(name(s.tensor) + "_acc_total += fold_sum(" + name(s.tensor) + "_acc);");
  }
  code_.Close();
}

void GroupEmitter::EmitInnermost(const Pass& pass, const Loop* loop) {
  if (lanes()) return EmitLaneLoop(pass);
  if (loop == nullptr) return EmitBody(pass);
  const std::string var = VarName(loop->var);
  const Bounds bounds = BoundsOf(pass, loop->var, loop->extent, "0", std::to_string(loop->extent));
  const bool scans = std::any_of(pass.statements.begin(), pass.statements.end(),
                                 [&](const Statement& s) { return Scans(s); });
  if (UsesVectorParts(pass) && !scans) {
    const bool blocks = std::any_of(pass.statements.begin(), pass.statements.end(),
                                    [&](const Statement& s) { return UsesBlocks(pass, s); });
    return blocks ? EmitBlockedSum(pass, *loop) : EmitVectorLoop(pass, *loop, bounds);
  }
  const bool reduces = pass.kept < pass.loops.size();
  if (!scans && !reduces) code_.Line("#pragma omp simd");
  code_.Open("for (int64_t " + var + " = " + bounds.begin + "; " + var + " < " + bounds.end +
             "; ++" + var + ")");
  EmitBody(pass);
  code_.Close();
}

// Loops `order[from…]`, the last of them as the innermost one.
void GroupEmitter::EmitLoops(const Pass& pass, const std::vector<size_t>& order, size_t from) {
  const size_t plain = lanes() ? order.size() : (order.empty() ? 0 : order.size() - 1);
  size_t opened = 0;
  for (size_t i = from; i < plain; ++i) {
    const Loop& loop = pass.loops[order[i]];
    const std::string var = VarName(loop.var);
    const Bounds bounds = BoundsOf(pass, loop.var, loop.extent, "0", std::to_string(loop.extent));
    code_.Open("for (int64_t " + var + " = " + bounds.begin + "; " + var + " < " + bounds.end +
               "; ++" + var + ")");
    ++opened;
  }
  const bool has_inner = !lanes() && order.size() > from;
  if (has_inner && opened > 0 && UsesVectorParts(pass)) {
    EmitInnermost(pass, &pass.loops[order.back()]);
  } else {
    EmitInnermost(pass, has_inner ? &pass.loops[order.back()] : nullptr);
  }
  for (size_t i = 0; i < opened; ++i) code_.Close();
}

void GroupEmitter::EmitInterchanged(const Pass& pass) {
  const Statement& s = pass.statements[0];
  const std::string acc = name(s.tensor) + "_acc";
  Index place(0);
  int64_t elements = 1;
  for (size_t i = 0; i < pass.kept; ++i) {
    place = place * pass.loops[i].extent + Index::Var(pass.loops[i].var, pass.loops[i].extent);
    elements *= pass.loops[i].extent;
  }
  const DType type = AccumulatorType(pass, s);
  code_.Line("std::fill_n(" + acc + ".get(), " + std::to_string(elements) + ", " +
             Literal(*Identity(tensor(s.tensor).combine, type)) + ");");
  const std::string guard = OuterGuard(pass, 0);
  if (!guard.empty()) code_.Open("if (" + guard + ")");
  size_t opened = 0;
  const auto open = [&](size_t i, bool simd) {
    const Loop& loop = pass.loops[i];
    const std::string var = VarName(loop.var);
    const Bounds bounds = BoundsOf(pass, loop.var, loop.extent, "0", std::to_string(loop.extent));
    if (simd) code_.Line("#pragma omp simd");
    code_.Open("for (int64_t " + var + " = " + bounds.begin + "; " + var + " < " + bounds.end +
               "; ++" + var + ")");
    ++opened;
  };
  for (size_t i = pass.kept; i < pass.loops.size(); ++i) open(i, false);
  for (size_t i = 0; i < pass.kept; ++i) open(i, i + 1 == pass.kept);
  part_suffix_ = "[" + writer_.Text(place) + "]";
  EmitBody(pass);
  part_suffix_.clear();
  for (; opened > 0; --opened) code_.Close();
  if (!guard.empty()) code_.Close();
  for (size_t i = 0; i < pass.kept; ++i) {
    const std::string var = VarName(pass.loops[i].var);
    if (i + 1 == pass.kept) code_.Line("#pragma omp simd");
    code_.Open("for (int64_t " + var + " = 0; " + var + " < " +
               std::to_string(pass.loops[i].extent) + "; ++" + var + ")");
  }
  std::string result = acc + "[" + writer_.Text(place) + "]";
  const std::string cpp = CppType(tensor(s.tensor).dtype);
  if (std::string(CppType(type)) != cpp) result = "static_cast<" + cpp + ">(" + result + ")";
  code_.Line(StoreText(s.tensor, s.at, result));
  for (size_t i = 0; i < pass.kept; ++i) code_.Close();
}

void GroupEmitter::EmitPass(size_t p) {
  const Pass& pass = group_.passes[p];
  pass_ = &pass;
  order_.clear();
  for (size_t k = 0; k < group_.outer.size(); ++k) {
    if (static_cast<int>(k) != group_.lane) order_.push_back(group_.outer[k].var);
  }
  for (size_t i = pass.interchanged ? pass.kept : 0; i < pass.loops.size(); ++i)
    order_.push_back(pass.loops[i].var);
  for (size_t i = 0; pass.interchanged && i < pass.kept; ++i) order_.push_back(pass.loops[i].var);
  if (lanes()) order_.push_back(group_.outer[static_cast<size_t>(group_.lane)].var);
  std::string what;
  for (const Statement& s : pass.statements) {
    const Tensor& t = tensor(s.tensor);
    if (!t.what.empty()) what += (what.empty() ? "" : ", ") + t.what;
  }
  if (group_.passes.size() > 1 && !what.empty()) code_.Comment(what);
  if (lanes()) {
    for (const Statement& s : pass.statements) {
      const bool scalar =
          storage(s.tensor).place == Place::kScalar || storage(s.tensor).also_scalar;
      if (scalar && !Reduces(s))
        code_.Line(std::string(CppType(tensor(s.tensor).dtype)) + " " + ScalarName(s.tensor) +
                   "[kTile];");
    }
  }
  if (pass.interchanged) return EmitInterchanged(pass);
  const bool scans = std::any_of(pass.statements.begin(), pass.statements.end(),
                                 [&](const Statement& s) { return Scans(s); });
  const size_t before = scans ? pass.loops.size() - (pass.loops.empty() ? 0 : 1) : pass.kept;
  const bool joins = scans || before < pass.loops.size() ||
                     std::any_of(pass.statements.begin(), pass.statements.end(),
                                 [&](const Statement& s) { return Reduces(s); });
  std::vector<size_t> order;
  for (size_t i = 0; i < pass.loops.size(); ++i) order.push_back(i);
  if (!joins) return EmitLoops(pass, order, 0);
  for (size_t i = 0; i < before; ++i) {
    const std::string var = VarName(pass.loops[i].var);
    code_.Open("for (int64_t " + var + " = 0; " + var + " < " +
               std::to_string(pass.loops[i].extent) + "; ++" + var + ")");
  }
  DeclareAccumulators(pass);
  const std::string guard = OuterGuard(pass, before);
  const bool scoped = guard.empty() && UsesVectorParts(pass) && pass.loops.size() - before == 1;
  if (!guard.empty()) code_.Open("if (" + guard + ")");
  if (scoped) code_.Open("");
  EmitLoops(pass, order, before);
  if (scoped) code_.Close();
  if (!guard.empty()) code_.Close();
  FinishReductions(pass);
  for (size_t i = 0; i < before; ++i) code_.Close();
}

}  // namespace kerf::synth
