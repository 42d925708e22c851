#include "synth/emit_triton_writer.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace kerf::synth {

const char* TritonType(DType type) {
  switch (type) {
    case DType::kBool:
      return "tl.int1";
    case DType::kInt8:
      return "tl.int8";
    case DType::kInt16:
      return "tl.int16";
    case DType::kInt32:
      return "tl.int32";
    case DType::kInt64:
      return "tl.int64";
    case DType::kUInt8:
      return "tl.uint8";
    case DType::kUInt16:
      return "tl.uint16";
    case DType::kUInt32:
      return "tl.uint32";
    case DType::kUInt64:
      return "tl.uint64";
    case DType::kFloat16:
      return "tl.float16";
    case DType::kBFloat16:
      return "tl.bfloat16";
    case DType::kFloat64:
      return "tl.float64";
    default:
      return "tl.float32";
  }
}

std::string TritonNumber(DType type, double number, int64_t integer) {
  if (type == DType::kBool) return integer != 0 ? "True" : "False";
  if (!IsFloat(type)) {
    if (integer == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807 - 1)";
    return integer < 0 ? "(" + std::to_string(integer) + ")" : std::to_string(integer);
  }
  const bool wide = type == DType::kFloat64;
  std::string text;
  if (std::isnan(number)) {
    text = "NAN";
  } else if (std::isinf(number)) {
    text = number < 0 ? "(-INF)" : "INF";
  } else {
    char digits[64];
    for (int count = 1; count <= 17; ++count) {
      std::snprintf(digits, sizeof digits, "%.*g", count, number);
      const double back = std::strtod(digits, nullptr);
      if (wide ? back == number : static_cast<float>(back) == static_cast<float>(number)) break;
    }
    text = digits;
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    if (text[0] == '-') text = "(" + text + ")";
  }
  // A plain number is a float32 wherever no block of another type is near.
  return wide ? "tl.full([1], " + Unwrapped(text) + ", tl.float64)" : text;
}

void TritonWriter::Begin(const std::vector<ExprPtr>& values) {
  named_.clear();
  uses_.clear();
  std::set<uint64_t> seen;
  for (const ExprPtr& value : values) {
    VisitExpr(value, [&](const ExprPtr& e) {
      if (!seen.insert(e->hash).second) return;
      for (const ExprPtr& arg : e->args) ++uses_[arg->hash];
    });
  }
}

std::string TritonWriter::Refuse(const std::string& what) {
  if (refused.empty()) refused = what;
  return "0";
}

std::string TritonWriter::Text(const ExprPtr& value) {
  constexpr size_t kLongText = 90;
  const std::string key = std::to_string(value->hash) + guard_;
  if (const auto at = named_.find(key); at != named_.end()) return at->second;
  const std::string text = Write(*value);
  const bool simple = text.find_first_of(" (") == std::string::npos;
  if (simple || value->op == Op::kConst || (uses_[value->hash] < 2 && text.size() < kLongText))
    return text;
  const std::string name = "v" + std::to_string(next_++);
  code_.Line(name + " = " + Unwrapped(text));
  named_[key] = name;
  return name;
}

std::string TritonWriter::Text(const Index& index) {
  std::string text;
  for (const IndexTerm& term : index.terms()) {
    const Atom& atom = *term.atom;
    std::string one;
    if (atom.kind == Atom::Kind::kVar) {
      one = vars.at(atom.var).text;
    } else if (atom.kind == Atom::Kind::kValue) {
      one = Text(atom.value);
    } else {
      one = "((" + Text(atom.inner) + (atom.kind == Atom::Kind::kDiv ? ") // " : ") % ") +
            std::to_string(atom.divisor) + ")";
    }
    const int64_t size = std::abs(term.factor);
    if (size != 1) one += " * " + std::to_string(size);
    if (text.empty()) {
      text = term.factor < 0 ? "-" + one : one;
    } else {
      text += (term.factor < 0 ? " - " : " + ") + one;
    }
  }
  if (text.empty()) return std::to_string(index.constant());
  if (index.constant() != 0)
    text += (index.constant() < 0 ? " - " : " + ") + std::to_string(std::abs(index.constant()));
  return text;
}

std::set<int> TritonWriter::AxesOf(const std::vector<Index>& indices) const {
  std::vector<int> mentioned;
  for (const Index& index : indices) index.CollectVars(mentioned);
  std::set<int> axes;
  for (const int var : mentioned) {
    const auto at = vars.find(var);
    if (at != vars.end() && at->second.axis >= 0) axes.insert(at->second.axis);
  }
  return axes;
}

std::string TritonWriter::Address(int tensor, const std::vector<Index>& indices) {
  const Index place = FlatIndex(program_.tensors[static_cast<size_t>(tensor)].shape, indices);
  const std::string text = Text(place);
  return names_[static_cast<size_t>(tensor)] + (text == "0" ? "" : " + " + text);
}

std::string TritonWriter::Mask(const std::vector<Index>& indices) {
  std::string mask = guard_;
  std::set<int> axes = AxesOf(indices);
  axes.insert(guard_axes_.begin(), guard_axes_.end());
  for (const int axis : axes) {
    if (bound[axis].empty()) continue;
    mask += (mask.empty() ? "" : " & ") + bound[axis];
  }
  return mask;
}

std::string TritonWriter::Raw(const Expr& e) {
  const std::set<int> own = AxesOf(e.indices);
  std::string address = Address(e.tensor, e.indices);
  // A mask has no more axes than what it masks.
  for (const int axis : guard_axes_) {
    if (own.count(axis) == 0) address += axis == 0 ? " + zero0" : " + zero1";
  }
  const std::string mask = Mask(e.indices);
  return "tl.load(" + address + (mask.empty() ? "" : ", mask=" + mask + ", other=0") + ")";
}

std::string TritonWriter::LoadText(const Expr& e) {
  if (std::string value = known_(e); !value.empty()) return value;
  const DType stored = program_.tensors[static_cast<size_t>(e.tensor)].dtype;
  const std::string raw = Raw(e);
  if (stored == DType::kBool) return "(" + raw + " != 0)";
  return stored == RegisterType(stored) ? raw : raw + ".to(tl.float32)";
}

// What a guard keeps from being read must not be read: the mask of the loads has it too.
std::string TritonWriter::SelectText(const Expr& e) {
  bool guards = false;
  VisitExpr(e.args[0], [&](const ExprPtr& one) { guards = guards || one->op == Op::kInRange; });
  const std::string condition = Text(e.args[0]);
  const std::string outside = guard_;
  const std::set<int> outside_axes = guard_axes_;
  const auto under = [&](const std::string& guard, const ExprPtr& value) {
    if (guards) {
      guard_ = outside.empty() ? guard : outside + " & " + guard;
      std::vector<int> mentioned;
      CollectExprVars(e.args[0], mentioned);
      for (const int var : mentioned) {
        if (vars.at(var).axis >= 0) guard_axes_.insert(vars.at(var).axis);
      }
    }
    std::string text = Unwrapped(Text(value));
    guard_ = outside;
    guard_axes_ = outside_axes;
    return text;
  };
  const std::string yes = under(condition, e.args[1]);
  const std::string no = under("(" + condition + " == 0)", e.args[2]);
  return "tl.where(" + Unwrapped(condition) + ", " + yes + ", " + no + ")" +
         (e.args[1]->op == Op::kConst && e.args[2]->op == Op::kConst
              ? std::string(".to(") + TritonType(e.type) + ")"
              : "");
}

std::string TritonWriter::Call(const std::string& name, const Expr& e, bool helper) {
  if (helper) helpers_.insert(name);
  std::string text = name + "(";
  for (size_t i = 0; i < e.args.size(); ++i) {
    std::string one = Unwrapped(Text(e.args[i]));
    // A helper's operands are blocks.
    if (helper && e.args[i]->op == Op::kConst && e.args[i]->type != DType::kFloat64)
      one = "tl.full([1], " + one + ", " + TritonType(e.args[i]->type) + ")";
    text += (i > 0 ? ", " : "") + one;
  }
  return text + ")";
}

namespace {

// Functions that Triton's language does not have.
std::string NameOf(Op op) {
  static const std::map<Op, const char*> names = {
      {Op::kAsin, "asin"},  {Op::kAcos, "acos"},     {Op::kAtan, "atan"},     {Op::kSinh, "sinh"},
      {Op::kCosh, "cosh"},  {Op::kAsinh, "asinh"},   {Op::kAcosh, "acosh"},   {Op::kAtanh, "atanh"},
      {Op::kErfc, "erfc"},  {Op::kErfinv, "erfinv"}, {Op::kLgamma, "lgamma"}, {Op::kAtan2, "atan2"},
      {Op::kHypot, "hypot"}};
  const auto at = names.find(op);
  return at == names.end() ? "this operator" : at->second;
}

}  // namespace

namespace {

// Python computes it before there is a block.
bool OnlyNumbers(const ExprPtr& value) {
  bool only = true;
  VisitExpr(value, [&](const ExprPtr& e) {
    only = only && e->op != Op::kLoad && e->op != Op::kIndexValue && e->op != Op::kInRange;
  });
  return only;
}

}  // namespace

std::string TritonWriter::UnaryText(const Expr& e) {
  const bool single = e.args[0]->type == DType::kFloat32;
  const auto own = [&](const char* name, const char* wide) {
    if (single) return Call(name, e);
    return wide == nullptr ? Refuse(std::string(name) + " of float64") : Call(wide, e, false);
  };
  switch (e.op) {
    case Op::kCast:
      if (e.type == DType::kBool) return "(" + Text(e.args[0]) + " != 0)";
      if (OnlyNumbers(e.args[0]))
        return "tl.full([1], " + Unwrapped(Text(e.args[0])) + ", " + TritonType(e.type) + ")";
      return Text(e.args[0]) + ".to(" + TritonType(e.type) + ")";
    case Op::kRoundFloat16:
      return Text(e.args[0]) + ".to(tl.float16).to(tl.float32)";
    case Op::kRoundBFloat16:
      return Text(e.args[0]) + ".to(tl.bfloat16).to(tl.float32)";
    case Op::kNeg:
      return "(-" + Text(e.args[0]) + ")";
    case Op::kNot:
      return e.type == DType::kBool ? "(" + Text(e.args[0]) + " == 0)"
                                    : "(~" + Text(e.args[0]) + ")";
    case Op::kAbs:
      return Call("tl.abs", e, false);
    case Op::kExp:
      return own("exp_float", "tl.exp");
    case Op::kExp2:
      return Call("tl.exp2", e, false);
    case Op::kExpm1:
      return own("expm1_float", nullptr);
    case Op::kLog:
      return Call("tl.log", e, false);
    case Op::kLog2:
      return Call("tl.log2", e, false);
    case Op::kLog10:
      return "(" + Call("tl.log", e, false) + " * 0.43429448190325176)";
    case Op::kTan:
      return "(" + Call("tl.sin", e, false) + " / " + Call("tl.cos", e, false) + ")";
    case Op::kLog1p:
      return own("log1p_float", nullptr);
    case Op::kSqrt:
      return Call(single ? "tl.sqrt_rn" : "tl.sqrt", e, false);
    case Op::kRsqrt:
      return "(1.0 / " + Call(single ? "tl.sqrt_rn" : "tl.sqrt", e, false) + ")";
    case Op::kSin:
      return Call("tl.sin", e, false);
    case Op::kCos:
      return Call("tl.cos", e, false);
    case Op::kTanh:
      return own("tanh_float", nullptr);
    case Op::kErf:
      return Call("tl.erf", e, false);
    case Op::kSigmoid:
      return single ? Call("sigmoid_float", e) : "(1.0 / (1.0 + tl.exp(-" + Text(e.args[0]) + ")))";
    case Op::kFloor:
      return Call("tl.floor", e, false);
    case Op::kCeil:
      return Call("tl.ceil", e, false);
    case Op::kTrunc:
      return Call("truncate", e);
    case Op::kRound:
      return own("round_float", nullptr);
    case Op::kIsNan: {
      const std::string x = Text(e.args[0]);
      return "(" + x + " != " + x + ")";
    }
    case Op::kIsInf:
      return "(" + Call("tl.abs", e, false) + " == INF)";
    default:
      return Refuse(NameOf(e.op));
  }
}

std::string TritonWriter::BinaryText(const Expr& e) {
  static const std::map<Op, const char*> infix = {
      {Op::kAdd, "+"},        {Op::kSub, "-"},        {Op::kMul, "*"}, {Op::kAnd, "&"},
      {Op::kOr, "|"},         {Op::kXor, "^"},        {Op::kEq, "=="}, {Op::kNe, "!="},
      {Op::kLt, "<"},         {Op::kLe, "<="},        {Op::kGt, ">"},  {Op::kGe, ">="},
      {Op::kShiftLeft, "<<"}, {Op::kShiftRight, ">>"}};
  const bool is_float = IsFloat(e.args[0]->type);
  if (const auto at = infix.find(e.op); at != infix.end())
    return "(" + Text(e.args[0]) + " " + at->second + " " + Text(e.args[1]) + ")";
  switch (e.op) {
    case Op::kDiv:
      return is_float ? "(" + Text(e.args[0]) + " / " + Text(e.args[1]) + ")"
                      : Refuse("a division of integers");
    case Op::kMax:
      return Call(is_float ? "max_nan" : "tl.maximum", e, is_float);
    case Op::kMin:
      return Call(is_float ? "min_nan" : "tl.minimum", e, is_float);
    case Op::kFmax:
      return Call(is_float ? "fmax_num" : "tl.maximum", e, is_float);
    case Op::kFmin:
      return Call(is_float ? "fmin_num" : "tl.minimum", e, is_float);
    case Op::kFloorDiv:
      return Call(is_float ? "floor_div_float" : "floor_div", e);
    case Op::kTruncDiv:
      return is_float ? Refuse("a truncated division") : Call("trunc_div", e);
    case Op::kRemainder:
      return Call(is_float ? "py_mod_float" : "py_mod", e);
    case Op::kFmod:
      return is_float ? "(" + Text(e.args[0]) + " % " + Text(e.args[1]) + ")" : Call("c_mod", e);
    case Op::kPow:
      return e.type == DType::kFloat32 ? Call("pow_float", e) : Refuse("pow");
    case Op::kCopysign:
      return Call("copy_sign", e);
    default:
      return Refuse(NameOf(e.op));
  }
}

std::string TritonWriter::Write(const Expr& e) {
  switch (e.op) {
    case Op::kConst:
      return TritonNumber(e.type, e.number, e.integer);
    case Op::kLoad:
      return LoadText(e);
    case Op::kIndexValue:
      return e.index.is_constant()
                 ? "tl.full([1], " + std::to_string(e.index.constant()) + ", tl.int64)"
                 : "(" + Text(e.index) + ").to(tl.int64)";
    case Op::kInRange: {
      const std::string at = Text(e.index);
      return "((" + at + " >= " + std::to_string(e.low) + ") & (" + at + " < " +
             std::to_string(e.high) + "))";
    }
    case Op::kSelect:
      return SelectText(e);
    default:
      return e.args.size() == 1 ? UnaryText(e) : BinaryText(e);
  }
}

namespace {

struct Helper {
  const char* name;
  const char* text;
};

// The same polynomials as the C++ kernels' (helpers.cc).
constexpr Helper kHelpers[] = {
    {"max_nan", R"(@triton.jit
def max_nan(a, b):
    """The larger one; NaN wins, as in torch."""
    return tl.where((a < b) | (b != b), b, a)
)"},
    {"min_nan", R"(@triton.jit
def min_nan(a, b):
    """The smaller one; NaN wins, as in torch."""
    return tl.where((b < a) | (b != b), b, a)
)"},
    {"fmax_num", R"(@triton.jit
def fmax_num(a, b):
    """The larger one; NaN loses."""
    return tl.where((a < b) | (a != a), b, a)
)"},
    {"fmin_num", R"(@triton.jit
def fmin_num(a, b):
    """The smaller one; NaN loses."""
    return tl.where((b < a) | (a != a), b, a)
)"},
    {"row_max", R"(@triton.jit
def row_max(x):
    """The largest of each row; NaN wins."""
    return tl.where(tl.max((x != x).to(tl.int32), axis=1) != 0, NAN, tl.max(x, axis=1))
)"},
    {"row_min", R"(@triton.jit
def row_min(x):
    """The smallest of each row; NaN wins."""
    return tl.where(tl.max((x != x).to(tl.int32), axis=1) != 0, NAN, tl.min(x, axis=1))
)"},
    {"times", R"(@triton.jit
def times(a, b):
    return a * b
)"},
    {"exp_float", R"(@triton.jit
def exp_float(x):
    """e^x: 2^n * e^r with |r| <= ln(2)/2, and 2^n in two steps for the ends of the range."""
    c = tl.where(x > 89.0, 89.0, tl.where(x < -104.0, -104.0, x))
    n = tl.floor(c * 1.44269504 + 0.5)
    r = tl.fma(n, -0.693145752, c)
    r = tl.fma(n, -1.42860677e-6, r)
    p = tl.fma(r, 0.00139505193, 0.00836890867)
    p = tl.fma(p, r, 0.0416662054)
    p = tl.fma(p, r, 0.166665187)
    p = tl.fma(p, r, 0.50000001)
    p = tl.fma(p * r, r, r) + 1.0
    half = tl.floor(n * 0.5)
    return p * tl.exp2(half) * tl.exp2(n - half)
)"},
    {"expm1_float", R"(@triton.jit
def expm1_float(x):
    """e^x - 1, also where e^x is near 1."""
    c = tl.where(x > 88.8, 88.8, tl.where(x < -20.0, -20.0, x))
    n = tl.floor(c * 1.44269504 + 0.5)
    r = tl.fma(n, -0.693145752, c)
    r = tl.fma(n, -1.42860677e-6, r)
    p = tl.fma(r, 0.000199127185, 0.0013941033)
    p = tl.fma(p, r, 0.0083332757)
    p = tl.fma(p, r, 0.0416663544)
    p = tl.fma(p, r, 0.166666668)
    p = tl.fma(p, r, 0.500000005)
    p = tl.fma(p * r, r, r)
    half = tl.exp2(n - 1.0)
    return 2.0 * tl.fma(p, half, half - 0.5)
)"},
    {"log1p_float", R"(@triton.jit
def log1p_float(x):
    """ln(1 + x): what 1 + x loses is put back."""
    u = 1.0 + x
    lost = (x - (u - 1.0)) / u
    return tl.log(u) + tl.where((u > 0.0) & (u < INF), lost, 0.0)
)"},
    {"tanh_float", R"(@triton.jit
def tanh_float(x):
    """x + x^3 P(x^2) below 0.65, t / (t + 2) with t = e^(2|x|) - 1 above."""
    size = tl.abs(x)
    z = x * x
    p = tl.fma(z, 0.00205957327, -0.00808561672)
    p = tl.fma(p, z, 0.0216633984)
    p = tl.fma(p, z, -0.0539399415)
    p = tl.fma(p, z, 0.133331522)
    p = tl.fma(p, z, -0.333333294)
    near = tl.fma(p * z, x, x)
    t = exp_float(2.0 * tl.where(size > 10.0, 10.0, size)) - 1.0
    far = t / (t + 2.0)
    return tl.where(size < 0.65, near, tl.where(x < 0.0, -far, far))
)"},
    {"sigmoid_float", R"(@triton.jit
def sigmoid_float(x):
    return 1.0 / (1.0 + exp_float(-x))
)"},
    {"truncate", R"(@triton.jit
def truncate(x):
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))
)"},
    {"round_float", R"(@triton.jit
def round_float(x):
    """To the nearest, ties to even: adding 1.5 * 2^23 leaves no place for a fraction."""
    return tl.where(tl.abs(x) < 4194304.0, (x + 12582912.0) - 12582912.0, x)
)"},
    {"copy_sign", R"(@triton.jit
def copy_sign(a, b):
    size = tl.abs(a)
    return tl.where((b < 0) | ((b == 0) & (1.0 / b < 0)), -size, size)
)"},
    {"pow_float", R"(@triton.jit
def pow_float(x, y):
    """x^y by way of float64, where the error of y * log2(x) does not show."""
    size = tl.exp2(y.to(tl.float64) * tl.log2(tl.abs(x).to(tl.float64))).to(tl.float32)
    whole = tl.floor(y) == y
    odd = whole & (tl.floor(y * 0.5) * 2.0 != y)
    signed = tl.where(x < 0.0, tl.where(whole, tl.where(odd, -size, size), NAN), size)
    return tl.where((y == 0.0) | (x == 1.0), 1.0, signed)
)"},
    {"floor_div_float", R"(@triton.jit
def floor_div_float(a, b):
    """Python's //: rounds down."""
    rest = a % b
    q = (a - rest) / b
    q = tl.where((rest != 0) & ((b < 0) != (rest < 0)), q - 1, q)
    whole = tl.floor(q)
    whole = tl.where(q - whole > 0.5, whole + 1, whole)
    return tl.where(b == 0, a / b, whole)
)"},
    {"py_mod_float", R"(@triton.jit
def py_mod_float(a, b):
    """Python's %: the sign of the divisor."""
    r = a % b
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)
)"},
    {"c_mod", R"(@triton.jit
def c_mod(a, b):
    """C's %: the sign of the dividend."""
    c = tl.where(b == 0, 1, b)
    return a - (a // c) * c
)"},
    {"trunc_div", R"(@triton.jit
def trunc_div(a, b):
    return a // tl.where(b == 0, 1, b)
)"},
    {"floor_div", R"(@triton.jit
def floor_div(a, b):
    """Python's //: rounds down. Triton's rounds towards zero."""
    c = tl.where(b == 0, 1, b)
    q = a // c
    return tl.where((q * c != a) & ((a < 0) != (c < 0)), q - 1, q)
)"},
    {"py_mod", R"(@triton.jit
def py_mod(a, b):
    """Python's %: the sign of the divisor."""
    c = tl.where(b == 0, 1, b)
    r = a - (a // c) * c
    return tl.where((r != 0) & ((r < 0) != (c < 0)), r + c, r)
)"},
};

}  // namespace

std::string TritonHelperText(const std::set<std::string>& wanted) {
  std::set<std::string> all = wanted;
  if (all.count("tanh_float") > 0 || all.count("sigmoid_float") > 0) all.insert("exp_float");
  std::string text;
  for (const Helper& helper : kHelpers) {
    if (all.count(helper.name) > 0) text += std::string(helper.text) + "\n\n";
  }
  return text;
}

}  // namespace kerf::synth
