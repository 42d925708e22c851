#include "synth/emit_expr.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/check.h"

namespace kerf::synth {

const char* CppType(DType type) {
  switch (RegisterType(type)) {
    case DType::kBool:
      return "bool";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kUInt16:
      return "uint16_t";
    case DType::kUInt32:
      return "uint32_t";
    case DType::kUInt64:
      return "uint64_t";
    case DType::kFloat64:
      return "double";
    default:
      return "float";
  }
}

const char* StoredType(DType type) {
  return type == DType::kFloat16 || type == DType::kBFloat16 ? "uint16_t" : CppType(type);
}

namespace {

std::string FloatText(double value, bool is_double) {
  const std::string type = is_double ? "double" : "float";
  if (std::isnan(value)) return "std::numeric_limits<" + type + ">::quiet_NaN()";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + "std::numeric_limits<" + type + ">::infinity()";
  char text[64];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    const double back = std::strtod(text, nullptr);
    if (is_double ? back == value : static_cast<float>(back) == static_cast<float>(value)) break;
  }
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return is_double ? result : result + "f";
}

}  // namespace

std::string Literal(const Expr& constant) {
  switch (constant.type) {
    case DType::kFloat32:
    case DType::kFloat64:
      return FloatText(constant.number, constant.type == DType::kFloat64);
    case DType::kBool:
      return constant.integer != 0 ? "true" : "false";
    default: {
      if (constant.type == DType::kInt64 && constant.integer == std::numeric_limits<int64_t>::min())
        return "std::numeric_limits<int64_t>::min()";
      return std::string(CppType(constant.type)) + "{" + std::to_string(constant.integer) + "}";
    }
  }
}

void CodeText::Line(const std::string& text) {
  if (!text.empty() && text[0] == '#') {
    text_ += text + "\n";
  } else {
    text_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + text + "\n";
  }
}

void CodeText::Open(const std::string& text) {
  Line(text.empty() ? "{" : text + " {");
  ++depth_;
}

void CodeText::Close(const std::string& tail) {
  --depth_;
  Line("}" + tail);
}

// Wrapped at 100 columns.
void CodeText::Comment(const std::string& text) {
  const size_t room = 96 - static_cast<size_t>(depth_) * 2;
  size_t at = 0;
  while (at < text.size()) {
    size_t length = std::min(room, text.size() - at);
    if (at + length < text.size()) {
      const size_t space = text.rfind(' ', at + length);
      if (space != std::string::npos && space > at) length = space - at;
    }
    Line("// " + text.substr(at, length));
    at += length;
    while (at < text.size() && text[at] == ' ') ++at;
  }
}

std::string ExprWriter::AtomTextOf(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kVar:
      return var_name_(atom.var);
    case Atom::Kind::kDiv:
    case Atom::Kind::kMod: {
      const std::string inner = Text(atom.inner);
      const bool simple = inner.find(' ') == std::string::npos;
      return "(" + (simple ? inner : "(" + inner + ")") +
             (atom.kind == Atom::Kind::kDiv ? " / " : " % ") + std::to_string(atom.divisor) + ")";
    }
    case Atom::Kind::kValue:
      return atom.value->type == DType::kInt64 ? Text(atom.value)
                                               : "static_cast<int64_t>(" + Text(atom.value) + ")";
  }
  return "0";
}

std::string ExprWriter::Text(const Index& index) {
  std::vector<IndexTerm> terms = index.terms();
  std::sort(terms.begin(), terms.end(), [](const IndexTerm& a, const IndexTerm& b) {
    if (a.factor != b.factor) return a.factor > b.factor;
    return a.atom->kind == Atom::Kind::kVar && b.atom->kind == Atom::Kind::kVar &&
           a.atom->var < b.atom->var;
  });
  std::string text;
  for (const IndexTerm& term : terms) {
    const int64_t size = std::abs(term.factor);
    std::string one = AtomTextOf(*term.atom);
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

std::string ExprWriter::Call(const std::string& name, const Expr& e, const char* helper) {
  if (helper != nullptr) helpers_.insert(helper);
  std::string text = name + "(";
  for (size_t i = 0; i < e.args.size(); ++i)
    text += (i > 0 ? ", " : "") + Unwrapped(Text(e.args[i]));
  return text + ")";
}

namespace {

struct MathName {
  Op op;
  const char* own;    // for float: a helper
  const char* plain;  // for double, and for float without a helper
};

constexpr MathName kMath[] = {
    {Op::kExp, "exp_float", "std::exp"},       {Op::kExp2, "exp2_float", "std::exp2"},
    {Op::kExpm1, "expm1_float", "std::expm1"}, {Op::kLog, "log_float", "std::log"},
    {Op::kLog2, "log2_float", "std::log2"},    {Op::kLog10, "log10_float", "std::log10"},
    {Op::kLog1p, "log1p_float", "std::log1p"}, {Op::kTanh, "tanh_float", "std::tanh"},
    {Op::kErf, "erf_float", "std::erf"},       {Op::kSigmoid, "sigmoid_float", "sigmoid_double"},
    {Op::kSin, "sin_float", "std::sin"},       {Op::kCos, "cos_float", "std::cos"},
    {Op::kTan, nullptr, "std::tan"},           {Op::kAsin, nullptr, "std::asin"},
    {Op::kAcos, nullptr, "std::acos"},         {Op::kAtan, nullptr, "std::atan"},
    {Op::kSinh, nullptr, "std::sinh"},         {Op::kCosh, nullptr, "std::cosh"},
    {Op::kAsinh, nullptr, "std::asinh"},       {Op::kAcosh, nullptr, "std::acosh"},
    {Op::kAtanh, nullptr, "std::atanh"},       {Op::kErfc, nullptr, "std::erfc"},
    {Op::kLgamma, nullptr, "std::lgamma"},     {Op::kSqrt, nullptr, "std::sqrt"},
    {Op::kFloor, nullptr, "std::floor"},       {Op::kCeil, nullptr, "std::ceil"},
    {Op::kRound, nullptr, "std::nearbyint"},   {Op::kTrunc, nullptr, "std::trunc"},
    {Op::kAtan2, nullptr, "std::atan2"},       {Op::kHypot, nullptr, "std::hypot"},
    {Op::kCopysign, nullptr, "std::copysign"},
};

const MathName* FindMath(Op op) {
  const auto* at = std::find_if(std::begin(kMath), std::end(kMath),
                                [&](const MathName& name) { return name.op == op; });
  return at == std::end(kMath) ? nullptr : at;
}

const char* InfixOf(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kDiv:
      return "/";
    case Op::kAnd:
      return "&";
    case Op::kOr:
      return "|";
    case Op::kXor:
      return "^";
    case Op::kShiftLeft:
      return "<<";
    case Op::kShiftRight:
      return ">>";
    case Op::kEq:
      return "==";
    case Op::kNe:
      return "!=";
    case Op::kLt:
      return "<";
    case Op::kLe:
      return "<=";
    case Op::kGt:
      return ">";
    case Op::kGe:
      return ">=";
    default:
      return nullptr;
  }
}

bool IsSmallInt(DType type) {
  return type == DType::kInt8 || type == DType::kInt16 || type == DType::kUInt8 ||
         type == DType::kUInt16;
}

}  // namespace

std::string ExprWriter::CastText(const Expr& e) {
  const ExprPtr& from = e.args[0];
  if (e.type == DType::kBool) {
    const Expr zero{.op = Op::kConst, .type = from->type};
    return "(" + Text(from) + " != " + Literal(zero) + ")";
  }
  return "static_cast<" + std::string(CppType(e.type)) + ">(" + Text(from) + ")";
}

// "std::exp" as it is for C++, as expf or exp for CUDA.
std::string ExprWriter::MathText(const char* name, bool is_float) const {
  constexpr std::string_view kStd = "std::";
  if (!cuda_) return name;
  return std::string(name).substr(kStd.size()) + (is_float ? "f" : "");
}

std::string ExprWriter::UnaryText(const Expr& e) {
  const bool is_float = e.args[0]->type == DType::kFloat32;
  switch (e.op) {
    case Op::kRoundFloat16:
      if (cuda_) return "__half2float(__float2half_rn(" + Unwrapped(Text(e.args[0])) + "))";
      helpers_.insert({"load_half", "store_half"});
      return "load_half(store_half(" + Text(e.args[0]) + "))";
    case Op::kRoundBFloat16:
      if (cuda_) return "__bfloat162float(__float2bfloat16_rn(" + Unwrapped(Text(e.args[0])) + "))";
      helpers_.insert({"load_bfloat", "store_bfloat"});
      return "load_bfloat(store_bfloat(" + Text(e.args[0]) + "))";
    case Op::kNeg:
      return IsSmallInt(e.type)
                 ? "static_cast<" + std::string(CppType(e.type)) + ">(-" + Text(e.args[0]) + ")"
                 : "(-" + Text(e.args[0]) + ")";
    case Op::kNot:
      if (e.type == DType::kBool) return "!" + Text(e.args[0]);
      return "static_cast<" + std::string(CppType(e.type)) + ">(~" + Text(e.args[0]) + ")";
    case Op::kAbs:
      if (IsFloat(e.type)) return Call(MathText("std::fabs", is_float), e);
      if (cuda_) return Call("abs_int", e, "abs_int");
      return "static_cast<" + std::string(CppType(e.type)) + ">(" + Call("std::abs", e) + ")";
    case Op::kRsqrt:
      return "(" + std::string(is_float ? "1.0f" : "1.0") + " / " +
             Call(MathText("std::sqrt", is_float), e) + ")";
    case Op::kIsNan:
      return Call("is_nan", e, "is_nan");
    case Op::kIsInf:
      return Call("is_inf", e, "is_inf");
    case Op::kErfinv:
      if (cuda_) return Call(is_float ? "erfinvf" : "erfinv", e);
      helpers_.insert("erfinv");
      return "static_cast<" + std::string(CppType(e.type)) + ">(erfinv(" + Text(e.args[0]) + "))";
    default:
      break;
  }
  const MathName* math = FindMath(e.op);
  KERF_CHECK(math != nullptr, "every unary operator has a spelling");
  if (is_float && math->own != nullptr && (!cuda_ || e.op == Op::kSigmoid)) {
    const bool trigonometric = e.op == Op::kSin || e.op == Op::kCos;
    return Call(math->own, e, trigonometric ? "sin_cos_float" : math->own);
  }
  if (e.op == Op::kSigmoid) return Call(math->plain, e, "sigmoid_double");
  return Call(MathText(math->plain, is_float), e);
}

// A product and a sum with one rounding, as the device's compiler would join them: said here so
// that every compiler does the same. Empty when there is no product that nobody else uses.
std::string ExprWriter::FusedText(const Expr& e) {
  const std::string call = e.type == DType::kFloat32 ? "fmaf(" : "fma(";
  const auto is_product = [&](const ExprPtr& arg) { return arg->op == Op::kMul && !IsNamed(arg); };
  const auto plain = [&](const ExprPtr& arg) { return Unwrapped(Text(arg)); };
  const bool subtracts = e.op == Op::kSub;
  const ExprPtr& left = e.args[0];
  const ExprPtr& right = e.args[1];
  if (is_product(right)) {
    const std::string factor = plain(right->args[0]);
    return call + (subtracts ? "-(" + factor + ")" : factor) + ", " + plain(right->args[1]) + ", " +
           plain(left) + ")";
  }
  if (!is_product(left)) return "";
  return call + plain(left->args[0]) + ", " + plain(left->args[1]) + ", " +
         (subtracts ? "-(" + plain(right) + ")" : plain(right)) + ")";
}

std::string ExprWriter::BinaryText(const Expr& e) {
  const bool is_float = IsFloat(e.args[0]->type);
  if (!cuda_ && e.op == Op::kAdd && e.type == DType::kFloat32 && IsConst(e.args[0], 1) &&
      e.args[1]->op == Op::kErf && !IsNamed(e.args[1]))
    return Call("one_plus_erf_float", *e.args[1], "one_plus_erf_float");
  const char* infix = InfixOf(e.op);
  if (cuda_ && is_float && (e.op == Op::kAdd || e.op == Op::kSub)) {
    const std::string fused = FusedText(e);
    if (!fused.empty()) return fused;
  }
  if (infix != nullptr) {
    std::string text = "(" + Text(e.args[0]) + " " + infix + " " + Text(e.args[1]) + ")";
    if (IsSmallInt(e.type)) text = "static_cast<" + std::string(CppType(e.type)) + ">" + text;
    return text;
  }
  switch (e.op) {
    case Op::kMax:
      return is_float ? Call("max_nan", e, "max_nan") : Call("max_int", e, "max_int");
    case Op::kMin:
      return is_float ? Call("min_nan", e, "min_nan") : Call("min_int", e, "min_int");
    case Op::kFmax:
      return is_float ? Call("fmax_num", e, "fmax_num") : Call("max_int", e, "max_int");
    case Op::kFmin:
      return is_float ? Call("fmin_num", e, "fmin_num") : Call("min_int", e, "min_int");
    case Op::kFloorDiv:
      return Call("floor_div", e, "floor_div");
    case Op::kTruncDiv:
      return Call("trunc_div", e, "trunc_div");
    case Op::kRemainder:
      return Call("py_mod", e, "py_mod");
    case Op::kFmod:
      return Call("c_mod", e, "c_mod");
    case Op::kPow:
      return is_float ? Call(MathText("std::pow", e.type == DType::kFloat32), e)
                      : Call("int_pow", e, "int_pow");
    default:
      break;
  }
  const MathName* math = FindMath(e.op);
  KERF_CHECK(math != nullptr, "every binary operator has a spelling");
  return Call(MathText(math->plain, e.type == DType::kFloat32), e);
}

std::string ExprWriter::OpText(const Expr& e) {
  switch (e.op) {
    case Op::kConst:
      return Literal(e);
    case Op::kLoad:
      return load_(e);
    case Op::kIndexValue:
      return "int64_t(" + Text(e.index) + ")";
    case Op::kInRange: {
      const std::string text = Text(e.index);
      const auto range = e.index.Range();
      const bool low = !range.has_value() || range->least < e.low;
      const bool high = !range.has_value() || range->most >= e.high;
      const std::string below = "(" + text + " >= " + std::to_string(e.low) + ")";
      const std::string above = "(" + text + " < " + std::to_string(e.high) + ")";
      if (low && high) return "(" + below + " & " + above + ")";
      return low ? below : above;
    }
    case Op::kCast:
      return CastText(e);
    case Op::kSelect:
      return "(" + Text(e.args[0]) + " ? " + Text(e.args[1]) + " : " + Text(e.args[2]) + ")";
    default:
      return e.args.size() == 1 ? UnaryText(e) : BinaryText(e);
  }
}

std::string ExprWriter::Text(const ExprPtr& value) {
  const auto named = names_.find(value->hash);
  return named != names_.end() ? named->second : OpText(*value);
}

void ExprWriter::Begin(const std::vector<ExprPtr>& values) {
  names_.clear();
  uses_.clear();
  std::set<uint64_t> seen;
  for (const ExprPtr& value : values) {
    ++uses_[value->hash];
    VisitExpr(value, [&](const ExprPtr& e) {
      if (!seen.insert(e->hash).second) return;
      for (const ExprPtr& arg : e->args) ++uses_[arg->hash];
      for (const Index& index : e->indices) {
        index.VisitAtoms([&](const Atom& atom) {
          if (atom.kind == Atom::Kind::kValue) ++uses_[atom.value->hash];
        });
      }
    });
  }
}

void ExprWriter::NameParts(const ExprPtr& value, CodeText& code,
                           const std::function<bool(const Expr&)>& may_name) {
  constexpr size_t kLongText = 72;
  VisitExpr(value, [&](const ExprPtr& e) {
    if (e->op == Op::kConst || e->op == Op::kIndexValue || IsNamed(e)) return;
    if (e->op == Op::kLoad && !may_name(*e)) return;
    const std::string text = OpText(*e);
    const bool simple = text.find_first_of(" ([") == std::string::npos;
    if (simple || (uses_[e->hash] < 2 && text.size() < kLongText) || e == value) return;
    const std::string name = "v" + std::to_string(next_name_++);
    code.Line("const " + std::string(CppType(e->type)) + " " + name + " = " + Unwrapped(text) +
              ";");
    names_[e->hash] = name;
  });
}

std::string Unwrapped(const std::string& text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

}  // namespace kerf::synth
