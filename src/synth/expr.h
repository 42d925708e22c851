// What one element of a tensor is: an expression over loop variables. Immutable and shared, so
// that inlining a producer into ten consumers costs a pointer.
//
// Types are those of C++ values in registers: float16 and bfloat16 are computed in float32 and are
// rounded where they are stored, or where the reference asks for it (kRoundFloat16).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "artifact/tensor.h"
#include "synth/index.h"

namespace kerf::synth {

enum class Op {
  kConst,
  kLoad,
  kIndexValue,  // the index as an int64
  kInRange,     // low <= index < high
  kCast,
  kSelect,
  kRoundFloat16,
  kRoundBFloat16,
  // one operand
  kNeg,
  kAbs,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kErfinv,
  kLgamma,
  kSigmoid,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kIsNan,
  kIsInf,
  kNot,  // logical for bool, bits for integers
  // two operands of one type
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kTruncDiv,
  kRemainder,  // the sign of the divisor, as Python's %
  kFmod,       // the sign of the dividend
  kPow,
  kAtan2,
  kHypot,
  kCopysign,
  kMax,  // NaN wins
  kMin,
  kFmax,  // NaN loses
  kFmin,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
};

struct Expr {
  Op op = Op::kConst;
  DType type = DType::kFloat32;
  std::vector<ExprPtr> args;
  double number = 0;           // kConst of a float type
  int64_t integer = 0;         // kConst of any other
  int tensor = -1;             // kLoad
  std::vector<Index> indices;  // kLoad: one for each axis
  Index index;                 // kIndexValue, kInRange
  int64_t low = 0, high = 0;   // kInRange
  uint64_t hash = 0;
};

// The type of a register that holds an element.
DType RegisterType(DType stored);

ExprPtr Number(DType type, double value);
ExprPtr Integer(DType type, int64_t value);
ExprPtr Load(int tensor, DType stored, std::vector<Index> indices);
ExprPtr IndexValue(Index index);
// Folded when the range of the index decides it.
ExprPtr InRange(Index index, int64_t low, int64_t high);
// To a stored type: rounds for the narrow floats.
ExprPtr Cast(ExprPtr value, DType to);
ExprPtr Select(ExprPtr condition, ExprPtr yes, ExprPtr no);
ExprPtr Unary(Op op, ExprPtr a);
ExprPtr Binary(Op op, ExprPtr a, ExprPtr b);
inline ExprPtr Both(ExprPtr a, ExprPtr b) { return Binary(Op::kAnd, std::move(a), std::move(b)); }

bool IsComparison(Op op);
bool IsConst(const ExprPtr& value, double number);

void CollectExprVars(const ExprPtr& value, std::vector<int>& vars);
// Every node once, operands first; also those inside indices.
void VisitExpr(const ExprPtr& value, const std::function<void(const ExprPtr&)>& visit);

// Rewrites variables and loads of an expression; a load arrives with its indices rewritten.
class Rewriter {
 public:
  using LoadMap = std::function<ExprPtr(const ExprPtr& load)>;
  Rewriter(Index::Substitution vars, LoadMap loads)
      : vars_(std::move(vars)), loads_(std::move(loads)) {}
  ExprPtr Run(const ExprPtr& value);
  Index Run(const Index& index);

 private:
  ExprPtr Rebuild(const Expr& value);

  Index::Substitution vars_;
  LoadMap loads_;
  struct Seen;
  std::shared_ptr<Seen> seen_;
};

// Rough cost of computing the expression once, in cycles for one vectorised element.
double ExprCost(const ExprPtr& value);
double OpCost(Op op, DType type);
// How many distinct nodes.
int ExprSize(const ExprPtr& value);

}  // namespace kerf::synth
