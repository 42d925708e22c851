// One tensor in, one out, element by element: activations, rounding, tests, casts.
#include <cmath>
#include <limits>

#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

// The element of `self` as the type in which the result is computed.
struct Element {
  ExprPtr x;
  DType type;
  [[nodiscard]] ExprPtr Num(double value) const { return Number(type, value); }
};

Element Self(Lowerer& l) {
  const DType type = RegisterType(l.OutType());
  return {l.Operand("self", Vars(l.OutShape()), type), type};
}

void GiveFloat(Lowerer& l, const std::function<ExprPtr(const Element&)>& make) {
  if (!l.Wanted(0)) return;
  const Element e = Self(l);
  if (l.refused()) return;
  if (!IsFloat(e.type)) return l.Refuse("it is only known for floating point");
  l.Give(0, make(e));
}

template <Op kOp>
void FloatUnary(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Unary(kOp, e.x); });
}

// Integers are whole already.
template <Op kOp>
void Rounding(Lowerer& l) {
  const Element e = Self(l);
  l.Give(0, IsFloat(e.type) ? Unary(kOp, e.x) : e.x);
}

void RoundDecimals(Lowerer& l) {
  const int64_t decimals = l.Int("decimals", 0);
  GiveFloat(l, [&](const Element& e) {
    const ExprPtr scale = e.Num(std::pow(10.0, static_cast<double>(std::abs(decimals))));
    const bool up = decimals >= 0;
    const ExprPtr scaled = Binary(up ? Op::kMul : Op::kDiv, e.x, scale);
    return Binary(up ? Op::kDiv : Op::kMul, Unary(Op::kRound, scaled), scale);
  });
}

void Abs(Lowerer& l) {
  const Element e = Self(l);
  const bool has_sign = e.type != DType::kBool && e.type != DType::kUInt8;
  l.Give(0, has_sign ? Unary(Op::kAbs, e.x) : e.x);
}

void Neg(Lowerer& l) { l.Give(0, Unary(Op::kNeg, Self(l).x)); }

void Relu(Lowerer& l) {
  const Element e = Self(l);
  l.Give(0, Binary(Op::kMax, e.x, e.Num(0)), "max(x, 0)");
}

void Relu6(Lowerer& l) {
  const Element e = Self(l);
  l.Give(0, Binary(Op::kMin, Binary(Op::kMax, e.x, e.Num(0)), e.Num(6)));
}

void Sign(Lowerer& l) {
  const Element e = Self(l);
  if (e.type == DType::kBool) return l.Give(0, e.x);
  const ExprPtr zero = e.Num(0);
  const ExprPtr negative = Select(Binary(Op::kLt, e.x, zero), e.Num(-1), zero);
  l.Give(0, Select(Binary(Op::kGt, e.x, zero), e.Num(1), negative));
}

void Sigmoid(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Unary(Op::kSigmoid, e.x); });
}

void LogSigmoid(Lowerer& l) {
  GiveFloat(l, [](const Element& e) {
    const ExprPtr low = Binary(Op::kMin, e.x, e.Num(0));
    const ExprPtr tail = Unary(Op::kExp, Unary(Op::kNeg, Unary(Op::kAbs, e.x)));
    return Binary(Op::kSub, low, Unary(Op::kLog1p, tail));
  });
}

void Silu(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Binary(Op::kMul, e.x, Unary(Op::kSigmoid, e.x)); });
}

void Mish(Lowerer& l) {
  GiveFloat(l, [](const Element& e) {
    const ExprPtr soft =
        Select(Binary(Op::kGt, e.x, e.Num(20)), e.x, Unary(Op::kLog1p, Unary(Op::kExp, e.x)));
    return Binary(Op::kMul, e.x, Unary(Op::kTanh, soft));
  });
}

void Gelu(Lowerer& l) {
  const std::string approximate = l.String("approximate", "none");
  GiveFloat(l, [&](const Element& e) {
    const ExprPtr half = Binary(Op::kMul, e.x, e.Num(0.5));
    if (approximate == "tanh") {
      const ExprPtr cube = Binary(Op::kMul, Binary(Op::kMul, e.x, e.x), e.x);
      const ExprPtr inner = Binary(Op::kAdd, e.x, Binary(Op::kMul, e.Num(0.044715), cube));
      const ExprPtr t = Unary(Op::kTanh, Binary(Op::kMul, e.Num(std::sqrt(2 / M_PI)), inner));
      return Binary(Op::kMul, half, Binary(Op::kAdd, e.Num(1), t));
    }
    const ExprPtr erf = Unary(Op::kErf, Binary(Op::kMul, e.x, e.Num(M_SQRT1_2)));
    return Binary(Op::kMul, half, Binary(Op::kAdd, e.Num(1), erf));
  });
}

// alpha * (exp(x * input_scale) - 1) * scale below zero, x * scale above.
ExprPtr EluOf(const Element& e, double alpha, double scale, double input_scale) {
  const ExprPtr below = Binary(Op::kMul, e.Num(alpha * scale),
                               Unary(Op::kExpm1, Binary(Op::kMul, e.x, e.Num(input_scale))));
  const ExprPtr above = Binary(Op::kMul, e.x, e.Num(scale));
  return Select(Binary(Op::kLe, e.x, e.Num(0)), below, above);
}

void Elu(Lowerer& l) {
  const double alpha = l.Float("alpha", 1);
  const double scale = l.Float("scale", 1);
  const double input_scale = l.Float("input_scale", 1);
  GiveFloat(l, [&](const Element& e) { return EluOf(e, alpha, scale, input_scale); });
}

void Celu(Lowerer& l) {
  const double alpha = l.Float("alpha", 1);
  GiveFloat(l, [&](const Element& e) { return EluOf(e, alpha, 1, 1 / alpha); });
}

void Selu(Lowerer& l) {
  GiveFloat(l,
            [](const Element& e) { return EluOf(e, 1.6732632423543772, 1.0507009873554805, 1); });
}

void LeakyRelu(Lowerer& l) {
  const double slope = l.Float("negative_slope", 0.01);
  GiveFloat(l, [&](const Element& e) {
    return Select(Binary(Op::kGt, e.x, e.Num(0)), e.x, Binary(Op::kMul, e.x, e.Num(slope)));
  });
}

ExprPtr Clip(const Element& e, const ExprPtr& x, double low, double high) {
  return Binary(Op::kMin, Binary(Op::kMax, x, e.Num(low)), e.Num(high));
}

void Hardtanh(Lowerer& l) {
  const double low = l.Float("min_val", -1);
  const double high = l.Float("max_val", 1);
  const Element e = Self(l);
  l.Give(0, Clip(e, e.x, low, high));
}

ExprPtr HardSigmoidOf(const Element& e) {
  const ExprPtr clipped = Clip(e, Binary(Op::kAdd, e.x, e.Num(3)), 0, 6);
  return Binary(Op::kDiv, clipped, e.Num(6));
}

void Hardsigmoid(Lowerer& l) { GiveFloat(l, HardSigmoidOf); }

void Hardswish(Lowerer& l) {
  GiveFloat(l, [](const Element& e) {
    const ExprPtr clipped = Clip(e, Binary(Op::kAdd, e.x, e.Num(3)), 0, 6);
    return Binary(Op::kDiv, Binary(Op::kMul, e.x, clipped), e.Num(6));
  });
}

void Softplus(Lowerer& l) {
  const double beta = l.Float("beta", 1);
  const double threshold = l.Float("threshold", 20);
  GiveFloat(l, [&](const Element& e) {
    const ExprPtr scaled = Binary(Op::kMul, e.x, e.Num(beta));
    const ExprPtr soft = Binary(Op::kDiv, Unary(Op::kLog1p, Unary(Op::kExp, scaled)), e.Num(beta));
    return Select(Binary(Op::kGt, scaled, e.Num(threshold)), e.x, soft);
  });
}

void Softshrink(Lowerer& l) {
  const double lambda = l.Float("lambd", 0.5);
  GiveFloat(l, [&](const Element& e) {
    const ExprPtr above = Binary(Op::kSub, e.x, e.Num(lambda));
    const ExprPtr below = Binary(Op::kAdd, e.x, e.Num(lambda));
    const ExprPtr inside = Binary(Op::kMul, e.x, e.Num(0));  // NaN stays NaN
    return Select(Binary(Op::kGt, e.x, e.Num(lambda)), above,
                  Select(Binary(Op::kLt, e.x, e.Num(-lambda)), below, inside));
  });
}

void Hardshrink(Lowerer& l) {
  const double lambda = l.Float("lambd", 0.5);
  GiveFloat(l, [&](const Element& e) {
    const ExprPtr inside =
        Binary(Op::kAnd, Binary(Op::kGe, e.x, e.Num(-lambda)), Binary(Op::kLe, e.x, e.Num(lambda)));
    return Select(inside, e.Num(0), e.x);
  });
}

void Threshold(Lowerer& l) {
  const double threshold = l.Float("threshold", 0);
  const double value = l.Float("value", 0);
  const Element e = Self(l);
  l.Give(0, Select(Binary(Op::kLe, e.x, e.Num(threshold)), e.Num(value), e.x));
}

void Reciprocal(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Binary(Op::kDiv, e.Num(1), e.x); });
}

void Square(Lowerer& l) {
  const Element e = Self(l);
  l.Give(0, Binary(Op::kMul, e.x, e.x));
}

void Frac(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Binary(Op::kSub, e.x, Unary(Op::kTrunc, e.x)); });
}

void Logit(Lowerer& l) {
  const bool has_eps = l.Has("eps");
  const double eps = l.Float("eps", 0);
  GiveFloat(l, [&](const Element& e) {
    const ExprPtr x = has_eps ? Clip(e, e.x, eps, 1 - eps) : e.x;
    return Unary(Op::kLog, Binary(Op::kDiv, x, Binary(Op::kSub, e.Num(1), x)));
  });
}

// Tests look at the element as it is.
ExprPtr Own(Lowerer& l) {
  const int id = l.TensorArg("self");
  return l.At(id, Vars(l.tensor(id).shape));
}

void IsNanOp(Lowerer& l) {
  const ExprPtr x = Own(l);
  l.Give(0, IsFloat(x->type) ? Unary(Op::kIsNan, x) : Integer(DType::kBool, 0));
}

void IsInfOp(Lowerer& l) {
  const ExprPtr x = Own(l);
  l.Give(0, IsFloat(x->type) ? Unary(Op::kIsInf, x) : Integer(DType::kBool, 0));
}

void IsFinite(Lowerer& l) {
  const ExprPtr x = Own(l);
  if (!IsFloat(x->type)) return l.Give(0, Integer(DType::kBool, 1));
  l.Give(0, Unary(Op::kNot, Binary(Op::kOr, Unary(Op::kIsNan, x), Unary(Op::kIsInf, x))));
}

void IsSignedInf(Lowerer& l) {
  const ExprPtr x = Own(l);
  if (!IsFloat(x->type)) return l.Give(0, Integer(DType::kBool, 0));
  const double sign = l.op() == "aten.isposinf.default" ? 1 : -1;
  l.Give(0, Binary(Op::kEq, x, Number(x->type, sign * std::numeric_limits<double>::infinity())));
}

void Signbit(Lowerer& l) {
  const ExprPtr x = Own(l);
  if (IsFloat(x->type)) {
    const ExprPtr one = Number(x->type, 1);
    return l.Give(0, Binary(Op::kLt, Binary(Op::kCopysign, one, x), Number(x->type, 0)));
  }
  l.Give(0, Binary(Op::kLt, x, Integer(x->type, 0)));
}

void LogicalNot(Lowerer& l) {
  const ExprPtr x = Own(l);
  l.Give(0, Cast(Unary(Op::kNot, Cast(x, DType::kBool)), l.OutType()));
}

void BitwiseNot(Lowerer& l) { l.Give(0, Unary(Op::kNot, Own(l))); }

void ToCopy(Lowerer& l) {
  const ExprPtr x = Own(l);
  l.Give(0, Cast(x, l.OutType()));
}

void NanToNum(Lowerer& l) {
  const DType type = l.OutType();
  const bool is_double = type == DType::kFloat64;
  double most = is_double ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (type == DType::kFloat16) most = 65504;
  if (type == DType::kBFloat16) most = 3.3895313892515355e38;
  const double nan = l.Float("nan", 0);
  const double positive = l.Float("posinf", most);
  const double negative = l.Float("neginf", -most);
  if (!IsFloat(type)) return l.Give(0, Own(l));
  GiveFloat(l, [&](const Element& e) {
    const double infinity = std::numeric_limits<double>::infinity();
    const ExprPtr low = Select(Binary(Op::kEq, e.x, e.Num(-infinity)), e.Num(negative), e.x);
    const ExprPtr high = Select(Binary(Op::kEq, e.x, e.Num(infinity)), e.Num(positive), low);
    return Select(Unary(Op::kIsNan, e.x), e.Num(nan), high);
  });
}

void Rad2Deg(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Binary(Op::kMul, e.x, e.Num(180 / M_PI)); });
}
void Deg2Rad(Lowerer& l) {
  GiveFloat(l, [](const Element& e) { return Binary(Op::kMul, e.x, e.Num(M_PI / 180)); });
}

}  // namespace

void AddPointwise(HandlerTable& t) {
  t["aten.exp.default"] = FloatUnary<Op::kExp>;
  t["aten.exp2.default"] = FloatUnary<Op::kExp2>;
  t["aten.expm1.default"] = FloatUnary<Op::kExpm1>;
  t["aten.log.default"] = FloatUnary<Op::kLog>;
  t["aten.log2.default"] = FloatUnary<Op::kLog2>;
  t["aten.log10.default"] = FloatUnary<Op::kLog10>;
  t["aten.log1p.default"] = FloatUnary<Op::kLog1p>;
  t["aten.sqrt.default"] = FloatUnary<Op::kSqrt>;
  t["aten.rsqrt.default"] = FloatUnary<Op::kRsqrt>;
  t["aten.sin.default"] = FloatUnary<Op::kSin>;
  t["aten.cos.default"] = FloatUnary<Op::kCos>;
  t["aten.tan.default"] = FloatUnary<Op::kTan>;
  t["aten.asin.default"] = FloatUnary<Op::kAsin>;
  t["aten.acos.default"] = FloatUnary<Op::kAcos>;
  t["aten.atan.default"] = FloatUnary<Op::kAtan>;
  t["aten.sinh.default"] = FloatUnary<Op::kSinh>;
  t["aten.cosh.default"] = FloatUnary<Op::kCosh>;
  t["aten.tanh.default"] = FloatUnary<Op::kTanh>;
  t["aten.asinh.default"] = FloatUnary<Op::kAsinh>;
  t["aten.acosh.default"] = FloatUnary<Op::kAcosh>;
  t["aten.atanh.default"] = FloatUnary<Op::kAtanh>;
  t["aten.erf.default"] = FloatUnary<Op::kErf>;
  t["aten.erfc.default"] = FloatUnary<Op::kErfc>;
  t["aten.erfinv.default"] = FloatUnary<Op::kErfinv>;
  t["aten.lgamma.default"] = FloatUnary<Op::kLgamma>;
  t["aten.floor.default"] = Rounding<Op::kFloor>;
  t["aten.ceil.default"] = Rounding<Op::kCeil>;
  t["aten.round.default"] = Rounding<Op::kRound>;
  t["aten.round.decimals"] = RoundDecimals;
  t["aten.trunc.default"] = Rounding<Op::kTrunc>;
  t["aten.fix.default"] = Rounding<Op::kTrunc>;
  t["aten.frac.default"] = Frac;
  t["aten.abs.default"] = Abs;
  t["aten.neg.default"] = Neg;
  t["aten.positive.default"] = ToCopy;
  t["aten.relu.default"] = Relu;
  t["aten.relu6.default"] = Relu6;
  t["aten.sign.default"] = Sign;
  t["aten.sgn.default"] = Sign;
  t["aten.sigmoid.default"] = Sigmoid;
  t["aten.log_sigmoid.default"] = LogSigmoid;
  t["aten.log_sigmoid_forward.default"] = LogSigmoid;
  t["aten.silu.default"] = Silu;
  t["aten.mish.default"] = Mish;
  t["aten.gelu.default"] = Gelu;
  t["aten.elu.default"] = Elu;
  t["aten.celu.default"] = Celu;
  t["aten.selu.default"] = Selu;
  t["aten.leaky_relu.default"] = LeakyRelu;
  t["aten.hardtanh.default"] = Hardtanh;
  t["aten.hardsigmoid.default"] = Hardsigmoid;
  t["aten.hardswish.default"] = Hardswish;
  t["aten.softplus.default"] = Softplus;
  t["aten.softshrink.default"] = Softshrink;
  t["aten.hardshrink.default"] = Hardshrink;
  t["aten.threshold.default"] = Threshold;
  t["aten.reciprocal.default"] = Reciprocal;
  t["aten.square.default"] = Square;
  t["aten.logit.default"] = Logit;
  t["aten.isnan.default"] = IsNanOp;
  t["aten.isinf.default"] = IsInfOp;
  t["aten.isfinite.default"] = IsFinite;
  t["aten.isposinf.default"] = IsSignedInf;
  t["aten.isneginf.default"] = IsSignedInf;
  t["aten.signbit.default"] = Signbit;
  t["aten.logical_not.default"] = LogicalNot;
  t["aten.bitwise_not.default"] = BitwiseNot;
  t["aten._to_copy.default"] = ToCopy;
  t["aten.to.dtype"] = ToCopy;
  t["aten.type_as.default"] = ToCopy;
  t["prims.convert_element_type.default"] = ToCopy;
  t["aten.clone.default"] = ToCopy;
  t["aten.contiguous.default"] = ToCopy;
  t["aten.detach.default"] = ToCopy;
  t["aten.alias.default"] = ToCopy;
  t["aten.lift_fresh_copy.default"] = ToCopy;
  t["aten.nan_to_num.default"] = NanToNum;
  t["aten.rad2deg.default"] = Rad2Deg;
  t["aten.deg2rad.default"] = Deg2Rad;
}

}  // namespace kerf::synth
