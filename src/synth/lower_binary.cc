// Two or three operands, element by element, with broadcasting: arithmetic, comparisons, logic,
// choices.
#include <cmath>

#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

template <Op kOp>
void Arithmetic(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = l.OutType();
  const ExprPtr a = l.Operand("self", at, type);
  const ExprPtr b = l.Operand("other", at, type);
  if (!l.refused()) l.Give(0, Binary(kOp, a, b));
}

// self + alpha * other; subtraction likewise. bool adds as `or`.
template <Op kOp>
void ScaledSum(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr a = l.Operand("self", at, type);
  ExprPtr b = l.Operand("other", at, type);
  if (l.refused()) return;
  if (type == DType::kBool) return l.Give(0, Binary(kOp == Op::kAdd ? Op::kOr : Op::kXor, a, b));
  const double alpha = l.Float("alpha", 1);
  if (alpha != 1) b = Binary(Op::kMul, b, Number(type, alpha));
  const bool reversed = l.op().rfind("aten.rsub", 0) == 0;
  if (reversed) {
    const ExprPtr scaled = alpha == 1 ? a : Binary(Op::kMul, a, Number(type, alpha));
    return l.Give(0, Binary(Op::kSub, l.Operand("other", at, type), scaled));
  }
  l.Give(0, Binary(kOp, a, b));
}

void Mul(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr a = l.Operand("self", at, type);
  const ExprPtr b = l.Operand("other", at, type);
  if (!l.refused()) l.Give(0, Binary(type == DType::kBool ? Op::kAnd : Op::kMul, a, b));
}

void Div(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr a = l.Operand("self", at, type);
  const ExprPtr b = l.Operand("other", at, type);
  const std::string mode = l.String("rounding_mode", "");
  if (l.refused()) return;
  if (mode == "floor") return l.Give(0, Binary(Op::kFloorDiv, a, b));
  if (mode == "trunc") {
    if (!IsFloat(type)) return l.Give(0, Binary(Op::kTruncDiv, a, b));
    return l.Give(0, Unary(Op::kTrunc, Binary(Op::kDiv, a, b)));
  }
  l.Give(0, Binary(Op::kDiv, a, b));
}

// The small powers torch computes by multiplying.
ExprPtr SmallPower(const ExprPtr& x, double power) {
  const DType type = x->type;
  const ExprPtr one = Number(type, 1);
  if (power == 0) return one;
  if (power == 1) return x;
  if (power == 2) return Binary(Op::kMul, x, x);
  if (power == 3) return Binary(Op::kMul, Binary(Op::kMul, x, x), x);
  if (!IsFloat(type)) return nullptr;
  if (power == 4) {
    const ExprPtr square = Binary(Op::kMul, x, x);
    return Binary(Op::kMul, square, square);
  }
  if (power == 0.5) return Unary(Op::kSqrt, x);
  if (power == -0.5) return Unary(Op::kRsqrt, x);
  if (power == -1) return Binary(Op::kDiv, one, x);
  if (power == -2) return Binary(Op::kDiv, one, Binary(Op::kMul, x, x));
  return nullptr;
}

void Pow(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr a = l.Operand("self", at, type);
  const ExprPtr b = l.Operand("exponent", at, type);
  if (l.refused()) return;
  if (b->op == Op::kConst) {
    const double power = IsFloat(type) ? b->number : static_cast<double>(b->integer);
    if (const ExprPtr simple = SmallPower(a, power)) return l.Give(0, simple);
  }
  l.Give(0, Binary(Op::kPow, a, b));
}

template <Op kOp>
void Comparison(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.Promote({"self", "other"}));
  const ExprPtr a = l.Operand("self", at, type);
  const ExprPtr b = l.Operand("other", at, type);
  if (!l.refused()) l.Give(0, Binary(kOp, a, b));
}

template <Op kOp>
void Logical(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const auto truth = [&](const char* name) {
    if (!l.IsTensor(name)) return l.Operand(name, at, DType::kBool);
    return Cast(l.BroadcastAt(l.TensorArg(name), at), DType::kBool);
  };
  const ExprPtr a = truth("self");
  const ExprPtr b = truth("other");
  if (!l.refused()) l.Give(0, Binary(kOp, a, b));
}

void Where(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr condition = l.Operand("condition", at, DType::kBool);
  const ExprPtr a = l.Operand("self", at, type);
  const ExprPtr b = l.Operand("other", at, type);
  if (!l.refused()) l.Give(0, Select(condition, a, b));
}

void MaskedFill(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr mask = l.Operand("mask", at, DType::kBool);
  const ExprPtr value = l.Operand("value", at, type);
  const ExprPtr x = l.Operand("self", at, type);
  if (!l.refused()) l.Give(0, Select(mask, value, x));
}

void Clamp(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  ExprPtr x = l.Operand("self", at, type);
  if (l.Has("min")) x = Binary(Op::kMax, x, l.Operand("min", at, type));
  if (l.Has("max")) x = Binary(Op::kMin, x, l.Operand("max", at, type));
  if (!l.refused()) l.Give(0, x);
}

void Addcmul(Lowerer& l) {
  const bool divide = l.op().rfind("aten.addcdiv", 0) == 0;
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr self = l.Operand("self", at, type);
  const ExprPtr a = l.Operand("tensor1", at, type);
  const ExprPtr b = l.Operand("tensor2", at, type);
  const double value = l.Float("value", 1);
  if (l.refused()) return;
  const ExprPtr scaled = value == 1 ? a : Binary(Op::kMul, a, Number(type, value));
  l.Give(0, Binary(Op::kAdd, self, Binary(divide ? Op::kDiv : Op::kMul, scaled, b)));
}

// Above a weight of one half torch counts from the other end, to hit it exactly.
void Lerp(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr from = l.Operand("self", at, type);
  const ExprPtr to = l.Operand("end", at, type);
  const ExprPtr weight = l.Operand("weight", at, type);
  if (l.refused()) return;
  const ExprPtr step = Binary(Op::kSub, to, from);
  const ExprPtr near = Binary(Op::kAdd, from, Binary(Op::kMul, weight, step));
  const ExprPtr rest = Binary(Op::kSub, Number(type, 1), weight);
  const ExprPtr far = Binary(Op::kSub, to, Binary(Op::kMul, step, rest));
  l.Give(0, Select(Binary(Op::kLt, Unary(Op::kAbs, weight), Number(type, 0.5)), near, far));
}

void Prelu(Lowerer& l) {
  const int id = l.TensorArg("self");
  const int weight = l.TensorArg("weight");
  if (l.refused()) return;
  const Indices at = Vars(l.OutShape());
  const ExprPtr x = l.At(id, at);
  Indices place;
  if (l.tensor(weight).rank() == 1)
    place = {l.tensor(weight).shape[0] == 1 || at.size() < 2 ? Index(0) : at[1]};
  const ExprPtr slope =
      l.tensor(weight).rank() > 1 ? l.BroadcastAt(weight, at) : l.At(weight, place);
  l.Give(0, Select(Binary(Op::kGt, x, Number(x->type, 0)), x, Binary(Op::kMul, slope, x)));
}

void Xlogy(Lowerer& l) {
  const Indices at = Vars(l.OutShape());
  const DType type = RegisterType(l.OutType());
  const ExprPtr x = l.Operand("self", at, type);
  const ExprPtr y = l.Operand("other", at, type);
  if (l.refused()) return;
  const ExprPtr product = Binary(Op::kMul, x, Unary(Op::kLog, y));
  const ExprPtr zero = Number(type, 0);
  l.Give(0,
         Select(Binary(Op::kAnd, Binary(Op::kEq, x, zero), Unary(Op::kNot, Unary(Op::kIsNan, y))),
                zero, product));
}

void AddForms(HandlerTable& t, const std::string& name, Handler handler,
              std::initializer_list<const char*> forms) {
  for (const char* form : forms) t["aten." + name + "." + form] = handler;
}

}  // namespace

void AddBinary(HandlerTable& t) {
  AddForms(t, "add", ScaledSum<Op::kAdd>, {"Tensor", "Scalar"});
  AddForms(t, "sub", ScaledSum<Op::kSub>, {"Tensor", "Scalar"});
  AddForms(t, "rsub", ScaledSum<Op::kSub>, {"Tensor", "Scalar"});
  AddForms(t, "mul", Mul, {"Tensor", "Scalar"});
  AddForms(t, "div", Div, {"Tensor", "Scalar", "Tensor_mode", "Scalar_mode"});
  AddForms(t, "true_divide", Div, {"Tensor", "Scalar"});
  AddForms(t, "floor_divide", Arithmetic<Op::kFloorDiv>, {"default", "Scalar"});
  AddForms(t, "remainder", Arithmetic<Op::kRemainder>, {"Tensor", "Scalar", "Scalar_Tensor"});
  AddForms(t, "fmod", Arithmetic<Op::kFmod>, {"Tensor", "Scalar"});
  AddForms(t, "pow", Pow, {"Tensor_Tensor", "Tensor_Scalar", "Scalar"});
  AddForms(t, "maximum", Arithmetic<Op::kMax>, {"default"});
  AddForms(t, "minimum", Arithmetic<Op::kMin>, {"default"});
  AddForms(t, "max", Arithmetic<Op::kMax>, {"other"});
  AddForms(t, "min", Arithmetic<Op::kMin>, {"other"});
  AddForms(t, "fmax", Arithmetic<Op::kFmax>, {"default"});
  AddForms(t, "fmin", Arithmetic<Op::kFmin>, {"default"});
  AddForms(t, "atan2", Arithmetic<Op::kAtan2>, {"default"});
  AddForms(t, "hypot", Arithmetic<Op::kHypot>, {"default"});
  AddForms(t, "copysign", Arithmetic<Op::kCopysign>, {"Tensor", "Scalar"});
  for (const char* kind : {"Tensor", "Scalar"}) {
    const std::string form = kind;
    t["aten.eq." + form] = Comparison<Op::kEq>;
    t["aten.ne." + form] = Comparison<Op::kNe>;
    t["aten.lt." + form] = Comparison<Op::kLt>;
    t["aten.le." + form] = Comparison<Op::kLe>;
    t["aten.gt." + form] = Comparison<Op::kGt>;
    t["aten.ge." + form] = Comparison<Op::kGe>;
    t["aten.bitwise_and." + form] = Arithmetic<Op::kAnd>;
    t["aten.bitwise_or." + form] = Arithmetic<Op::kOr>;
    t["aten.bitwise_xor." + form] = Arithmetic<Op::kXor>;
  }
  AddForms(t, "bitwise_left_shift", Arithmetic<Op::kShiftLeft>, {"Tensor", "Tensor_Scalar"});
  AddForms(t, "bitwise_right_shift", Arithmetic<Op::kShiftRight>, {"Tensor", "Tensor_Scalar"});
  for (const char* form : {"Scalar", "Tensor"}) {
    t["aten.__lshift__." + std::string(form)] = Arithmetic<Op::kShiftLeft>;
    t["aten.__rshift__." + std::string(form)] = Arithmetic<Op::kShiftRight>;
  }
  t["prims.hypot.default"] = Arithmetic<Op::kHypot>;
  AddForms(t, "logical_and", Logical<Op::kAnd>, {"default"});
  AddForms(t, "logical_or", Logical<Op::kOr>, {"default"});
  AddForms(t, "logical_xor", Logical<Op::kXor>, {"default"});
  AddForms(t, "where", Where, {"self", "ScalarSelf", "ScalarOther", "Scalar"});
  AddForms(t, "masked_fill", MaskedFill, {"Scalar", "Tensor"});
  AddForms(t, "clamp", Clamp, {"default", "Tensor"});
  AddForms(t, "clip", Clamp, {"default", "Tensor"});
  AddForms(t, "clamp_min", Clamp, {"default", "Tensor"});
  AddForms(t, "clamp_max", Clamp, {"default", "Tensor"});
  AddForms(t, "addcmul", Addcmul, {"default"});
  AddForms(t, "addcdiv", Addcmul, {"default"});
  AddForms(t, "lerp", Lerp, {"Scalar", "Tensor"});
  AddForms(t, "prelu", Prelu, {"default"});
  AddForms(t, "_prelu_kernel", Prelu, {"default"});
  AddForms(t, "xlogy", Xlogy, {"Tensor"});
}

}  // namespace kerf::synth
