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
  std::string text = Write(*value);
  const bool simple = text.find_first_of(" (") == std::string::npos;
  if (simple || value->op == Op::kConst || (uses_[value->hash] < 2 && text.size() < kLongText))
    return text;
  std::string name = "v" + std::to_string(next_++);
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
  static const std::map<Op, const char*> plain = {
      {Op::kAbs, "tl.abs"},   {Op::kExp2, "tl.exp2"},   {Op::kLog, "tl.log"},
      {Op::kLog2, "tl.log2"}, {Op::kSin, "tl.sin"},     {Op::kCos, "tl.cos"},
      {Op::kErf, "tl.erf"},   {Op::kFloor, "tl.floor"}, {Op::kCeil, "tl.ceil"}};
  if (const auto at = plain.find(e.op); at != plain.end()) return Call(at->second, e, false);
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
    case Op::kExp:
      return own("exp_float", "tl.exp");
    case Op::kExpm1:
      return own("expm1_float", nullptr);
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
    case Op::kTanh:
      return own("tanh_float", nullptr);
    case Op::kSigmoid:
      return single ? Call("sigmoid_float", e) : "(1.0 / (1.0 + tl.exp(-" + Text(e.args[0]) + ")))";
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

}  // namespace kerf::synth
