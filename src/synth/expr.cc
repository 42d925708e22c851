#include "synth/expr.h"

#include <bit>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"

namespace kerf::synth {
namespace {

ExprPtr Finish(Expr e) {
  uint64_t h =
      MixHash(static_cast<uint64_t>(e.op) * 31 + static_cast<uint64_t>(e.type), e.args.size());
  for (const ExprPtr& arg : e.args) h = MixHash(h, arg->hash);
  h = MixHash(h, std::bit_cast<uint64_t>(e.number));
  h = MixHash(h, static_cast<uint64_t>(e.integer));
  h = MixHash(h, static_cast<uint64_t>(e.tensor + 1));
  for (const Index& index : e.indices) h = MixHash(h, index.hash());
  if (e.op == Op::kIndexValue || e.op == Op::kInRange) {
    h = MixHash(h, e.index.hash());
    h = MixHash(MixHash(h, static_cast<uint64_t>(e.low)), static_cast<uint64_t>(e.high));
  }
  e.hash = h;
  return std::make_shared<const Expr>(std::move(e));
}

bool IsFloatType(DType type) { return type == DType::kFloat32 || type == DType::kFloat64; }

}  // namespace

DType RegisterType(DType stored) {
  return stored == DType::kFloat16 || stored == DType::kBFloat16 ? DType::kFloat32 : stored;
}

ExprPtr Number(DType type, double value) {
  if (!IsFloatType(RegisterType(type))) {
    return Integer(type, std::isfinite(value) ? static_cast<int64_t>(value) : 0);
  }
  return Finish({.op = Op::kConst, .type = RegisterType(type), .number = value});
}

ExprPtr Integer(DType type, int64_t value) {
  if (IsFloatType(RegisterType(type))) return Number(type, static_cast<double>(value));
  if (type == DType::kBool) value = value != 0 ? 1 : 0;
  return Finish({.op = Op::kConst, .type = type, .integer = value});
}

ExprPtr Load(int tensor, DType stored, std::vector<Index> indices) {
  return Finish({.op = Op::kLoad,
                 .type = RegisterType(stored),
                 .tensor = tensor,
                 .indices = std::move(indices)});
}

ExprPtr IndexValue(Index index) {
  if (index.is_constant()) return Integer(DType::kInt64, index.constant());
  return Finish({.op = Op::kIndexValue, .type = DType::kInt64, .index = std::move(index)});
}

ExprPtr InRange(Index index, int64_t low, int64_t high) {
  if (const auto range = index.Range()) {
    if (range->least >= low && range->most < high) return Integer(DType::kBool, 1);
    if (range->most < low || range->least >= high) return Integer(DType::kBool, 0);
  }
  return Finish({.op = Op::kInRange,
                 .type = DType::kBool,
                 .index = std::move(index),
                 .low = low,
                 .high = high});
}

ExprPtr Cast(ExprPtr value, DType to) {
  const DType type = RegisterType(to);
  if (value->type != type) {
    if (value->op == Op::kConst) {
      if (IsFloatType(value->type) && to != DType::kBool) {
        value = type == DType::kFloat32 ? Number(type, static_cast<float>(value->number))
                                        : Number(type, value->number);
      } else if (to == DType::kBool) {
        value = Integer(to, IsFloatType(value->type) ? static_cast<int64_t>(value->number != 0)
                                                     : static_cast<int64_t>(value->integer != 0));
      } else {
        value = Integer(type, value->integer);
      }
    } else {
      value = Finish({.op = Op::kCast, .type = type, .args = {value}});
    }
  }
  if (to == DType::kFloat16) return Unary(Op::kRoundFloat16, value);
  if (to == DType::kBFloat16) return Unary(Op::kRoundBFloat16, value);
  return value;
}

ExprPtr Select(ExprPtr condition, ExprPtr yes, ExprPtr no) {
  KERF_CHECK(condition->type == DType::kBool && yes->type == no->type, "a select has one type");
  if (condition->op == Op::kConst) return condition->integer != 0 ? yes : no;
  const DType type = yes->type;
  return Finish({.op = Op::kSelect,
                 .type = type,
                 .args = {std::move(condition), std::move(yes), std::move(no)}});
}

ExprPtr Unary(Op op, ExprPtr a) {
  const DType type = op == Op::kIsNan || op == Op::kIsInf ? DType::kBool : a->type;
  return Finish({.op = op, .type = type, .args = {std::move(a)}});
}

ExprPtr Binary(Op op, ExprPtr a, ExprPtr b) {
  KERF_CHECK(a->type == b->type, "operands of one operator have one type");
  if (op == Op::kAnd && a->type == DType::kBool) {
    if (a->op == Op::kConst) return a->integer != 0 ? b : a;
    if (b->op == Op::kConst) return b->integer != 0 ? a : b;
  }
  // Not for floats: -0 + 0 is 0.
  if (op == Op::kAdd && !IsFloatType(a->type) && IsConst(a, 0)) return b;
  if (op == Op::kMul && IsConst(b, 1)) return a;
  if (op == Op::kMul && IsConst(a, 1)) return b;
  const DType type = IsComparison(op) ? DType::kBool : a->type;
  return Finish({.op = op, .type = type, .args = {std::move(a), std::move(b)}});
}

bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }

bool IsConst(const ExprPtr& value, double number) {
  if (value->op != Op::kConst) return false;
  return IsFloatType(value->type) ? value->number == number
                                  : static_cast<double>(value->integer) == number;
}

namespace {

void VisitIndexValues(const Index& index, const std::function<void(const ExprPtr&)>& visit) {
  index.VisitAtoms([&](const Atom& atom) {
    if (atom.kind == Atom::Kind::kValue) visit(atom.value);
  });
}

void VisitOnce(const ExprPtr& value, std::unordered_set<uint64_t>& seen,
               const std::function<void(const ExprPtr&)>& visit) {
  if (!seen.insert(value->hash).second) return;
  for (const ExprPtr& arg : value->args) VisitOnce(arg, seen, visit);
  const auto inside = [&](const ExprPtr& inner) { VisitOnce(inner, seen, visit); };
  for (const Index& index : value->indices) VisitIndexValues(index, inside);
  VisitIndexValues(value->index, inside);
  visit(value);
}

}  // namespace

void VisitExpr(const ExprPtr& value, const std::function<void(const ExprPtr&)>& visit) {
  std::unordered_set<uint64_t> seen;
  VisitOnce(value, seen, visit);
}

void CollectExprVars(const ExprPtr& value, std::vector<int>& vars) {
  const auto own = [&](const Index& index) {
    index.VisitAtoms([&](const Atom& atom) {
      if (atom.kind == Atom::Kind::kVar) vars.push_back(atom.var);
    });
  };
  VisitExpr(value, [&](const ExprPtr& e) {
    for (const Index& index : e->indices) own(index);
    own(e->index);
  });
}

struct Rewriter::Seen {
  std::unordered_map<uint64_t, ExprPtr> done;
};

Index Rewriter::Run(const Index& index) {
  return index.Replace(vars_, [this](const ExprPtr& value) { return Run(value); });
}

ExprPtr Rewriter::Run(const ExprPtr& value) {
  if (seen_ == nullptr) seen_ = std::make_shared<Seen>();
  if (const auto at = seen_->done.find(value->hash); at != seen_->done.end()) return at->second;
  ExprPtr result = Rebuild(*value);
  seen_->done.emplace(value->hash, result);
  return result;
}

ExprPtr Rewriter::Rebuild(const Expr& value) {
  switch (value.op) {
    case Op::kConst:
      return std::make_shared<const Expr>(value);
    case Op::kLoad: {
      std::vector<Index> indices;
      for (const Index& index : value.indices) indices.push_back(Run(index));
      Expr load = value;
      load.indices = std::move(indices);
      return loads_(Finish(std::move(load)));
    }
    case Op::kIndexValue:
      return IndexValue(Run(value.index));
    case Op::kInRange:
      return InRange(Run(value.index), value.low, value.high);
    case Op::kSelect: {
      const ExprPtr condition = Run(value.args[0]);
      if (condition->op == Op::kConst) return Run(value.args[condition->integer != 0 ? 1 : 2]);
      return Select(condition, Run(value.args[1]), Run(value.args[2]));
    }
    case Op::kAnd:
      return Binary(Op::kAnd, Run(value.args[0]), Run(value.args[1]));
    default: {
      Expr copy = value;
      for (ExprPtr& arg : copy.args) arg = Run(arg);
      return Finish(std::move(copy));
    }
  }
}

double OpCost(Op op, DType type) {
  const double wide = type == DType::kFloat64 ? 2 : 1;
  switch (op) {
    case Op::kConst:
    case Op::kIndexValue:
      return 0;
    case Op::kLoad:
      return 0.15 * wide;
    case Op::kExp:
    case Op::kExp2:
    case Op::kLog:
    case Op::kLog2:
    case Op::kLog10:
      return 1.2 * wide * wide;
    case Op::kSigmoid:
    case Op::kTanh:
    case Op::kErf:
    case Op::kExpm1:
    case Op::kLog1p:
      return 2 * wide * wide;
    case Op::kSin:
    case Op::kCos:
      return 2 * wide * wide;
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kDiv:
      return 0.6 * wide;
    case Op::kPow:
      return 8;
    case Op::kTan:
    case Op::kAsin:
    case Op::kAcos:
    case Op::kAtan:
    case Op::kSinh:
    case Op::kCosh:
    case Op::kAsinh:
    case Op::kAcosh:
    case Op::kAtanh:
    case Op::kErfc:
    case Op::kErfinv:
    case Op::kLgamma:
    case Op::kAtan2:
    case Op::kHypot:
    case Op::kFmod:
    case Op::kRemainder:
    case Op::kFloorDiv:
      return 20;
    default:
      return 0.1 * wide;
  }
}

double ExprCost(const ExprPtr& value) {
  double cost = 0;
  VisitExpr(value, [&](const ExprPtr& e) { cost += OpCost(e->op, e->type); });
  return cost;
}

int ExprSize(const ExprPtr& value) {
  int size = 0;
  VisitExpr(value, [&](const ExprPtr&) { ++size; });
  return size;
}

}  // namespace kerf::synth
