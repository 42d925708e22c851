#include "synth/emit_cuda_writer.h"

#include <algorithm>

#include "base/check.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

// Terms that float32 partial sums may have before they go over to float64 (docs/synth.md).
constexpr int64_t kCudaLongSum = 32768;

std::string OneLine(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::string line = text.substr(first);
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\\') c = ' ';
  }
  return line.size() > 90 ? line.substr(0, 87) + "..." : line;
}

}  // namespace

const char* CudaType(DType stored) {
  if (stored == DType::kFloat16) return "__half";
  if (stored == DType::kBFloat16) return "__nv_bfloat16";
  return CppType(stored);
}

bool IsConstantInput(const Plan& plan, int id) {
  const Tensor& t = plan.program.tensors[static_cast<size_t>(id)];
  return t.kind == TensorKind::kInput && t.source.kind == GraphInput::Source::kConstant;
}

// Constants of half types are written as their bits.
std::string CudaLoad(const CudaContext& context, int id, const std::string& place) {
  const DType stored = context.plan.program.tensors[static_cast<size_t>(id)].dtype;
  std::string text = context.names[static_cast<size_t>(id)] + "[" + place + "]";
  const bool bits = IsConstantInput(context.plan, id);
  if (stored == DType::kFloat16)
    return "__half2float(" + (bits ? "__ushort_as_half(" + text + ")" : text) + ")";
  if (stored == DType::kBFloat16)
    return "__bfloat162float(" + (bits ? "__ushort_as_bfloat16(" + text + ")" : text) + ")";
  return text;
}

std::string CudaStored(DType stored, const std::string& value) {
  if (stored == DType::kFloat16) return "__float2half_rn(" + value + ")";
  if (stored == DType::kBFloat16) return "__float2bfloat16_rn(" + value + ")";
  return value;
}

Refusal CudaRefusal(const Tensor& tensor, const std::string& reason) {
  return {tensor.op, tensor.line, tensor.text, reason,
          "use --impl cpp, or a model: --model openai:MODEL"};
}

CudaWriter::CudaWriter(const CudaContext& context, int group)
    : context_(context),
      group_(context.plan.groups[static_cast<size_t>(group)]),
      index_(group),
      writer_(
          context.helpers,
          [this](int var) {
            const auto at = vars_.find(var);
            KERF_CHECK(at != vars_.end(), "every loop variable in an index has a loop");
            return at->second;
          },
          [this](const Expr& load) { return LoadText(load); }) {
  writer_.WriteCuda();
}

void CudaWriter::Describe() {
  std::string what;
  std::set<std::string> said;
  std::vector<std::string> lines;
  for (const Pass& pass : group_.passes) {
    for (const Statement& s : pass.statements) {
      const Tensor& t = tensor(s.tensor);
      const std::string word = t.what.empty() ? t.op : t.what;
      if (said.insert(word).second) what += (what.empty() ? "" : ", ") + word;
      const std::string line =
          t.line > 0 ? "line " + std::to_string(t.line) + ": " + OneLine(t.text) : "";
      if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(line);
    }
  }
  code_.Comment(what + ".");
  for (const std::string& line : lines) code_.Line("//   " + line);
}

void CudaWriter::CollectArguments() {
  std::set<int> seen;
  const auto add = [&](int id) {
    if (storage(id).place == Place::kGlobal && !IsConstantInput(context_.plan, id) &&
        seen.insert(id).second)
      arguments_.push_back(id);
  };
  for (const Pass& pass : group_.passes) {
    for (const Statement& s : pass.statements)
      VisitLoads(s.value, [&](const Expr& load) { add(load.tensor); });
  }
  for (const Pass& pass : group_.passes) {
    for (const Statement& s : pass.statements) add(s.tensor);
  }
}

std::string CudaWriter::Parameters() const {
  std::string text;
  for (const int id : arguments_) {
    const bool written = storage(id).group == index_;
    text += std::string(text.empty() ? "" : ", ") + (written ? "" : "const ") +
            CudaType(tensor(id).dtype) + "* __restrict__ " + name(id);
  }
  return text;
}

std::string CudaWriter::ScalarName(int id) const {
  return storage(id).place == Place::kGlobal ? name(id) + "_value" : name(id);
}

DType CudaWriter::AccumulatorType(const Statement& s) const {
  const Tensor& t = tensor(s.tensor);
  const bool joins = t.combine == Combine::kSum || (Scans(s) && t.combine == Combine::kProd);
  if (!joins || s.value->type != DType::kFloat32) return s.value->type;
  return Scans(s) || t.wide || t.terms() > kCudaLongSum ? DType::kFloat64 : DType::kFloat32;
}

std::string CudaWriter::JoinText(Combine combine, DType type, const std::string& a,
                                 const std::string& b) {
  const std::string number = IsFloat(type) ? "_nan" : "_int";
  const std::string both = "(" + a + ", " + Unwrapped(b) + ")";
  switch (combine) {
    case Combine::kSum:
      return a + " + " + b;
    case Combine::kProd:
      return a + " * " + b;
    case Combine::kMax:
      context_.helpers.insert("max" + number);
      return "max" + number + both;
    case Combine::kMin:
      context_.helpers.insert("min" + number);
      return "min" + number + both;
    case Combine::kAny:
      return a + " | " + b;
    case Combine::kAll:
      return a + " & " + b;
    case Combine::kLogSumExp:
      context_.helpers.insert("log_add_exp");
      return "log_add_exp" + both;
    case Combine::kArgMax:
    case Combine::kArgMin:
      break;
  }
  return "";
}

std::string CudaWriter::JoinFunction(Combine combine, DType type) {
  const std::string cpp = CppType(type);
  return "[](" + cpp + " a, " + cpp + " b) { return " + JoinText(combine, type, "a", "b") + "; }";
}

std::string CudaWriter::GuardText(const std::vector<Guard>& guards) {
  std::string text;
  for (const Guard& guard : guards) {
    const auto range = guard.index.Range();
    const std::string index = writer_.Text(guard.index);
    if (!range.has_value() || range->least < guard.low)
      text += (text.empty() ? "" : " && ") + index + " >= " + std::to_string(guard.low);
    if (!range.has_value() || range->most >= guard.high)
      text += (text.empty() ? "" : " && ") + index + " < " + std::to_string(guard.high);
  }
  return text;
}

std::string CudaWriter::PlaceInReduction(const Pass& pass) {
  Index place(0);
  for (size_t i = pass.kept; i < pass.loops.size(); ++i)
    place = place * pass.loops[i].extent + Index::Var(pass.loops[i].var, pass.loops[i].extent);
  return writer_.Text(place);
}

std::string CudaWriter::LoadText(const Expr& load) {
  const int id = load.tensor;
  const Storage& s = storage(id);
  if (in_register_.count(id) > 0) return name(id) + "_now";
  if (s.group == index_ && IsScalar(id)) return ScalarName(id);
  const std::string place = writer_.Text(PlaceOf(context_.plan, id, load.indices));
  if (s.place == Place::kRow) return name(id) + "_row[" + place + "]" + row_suffix_;
  return CudaLoad(context_, id, place);
}

std::string CudaWriter::StoreText(int id, const std::vector<Index>& at, const std::string& value) {
  const std::string text = Unwrapped(value);
  const std::string place = writer_.Text(PlaceOf(context_.plan, id, at));
  if (storage(id).place == Place::kRow)
    return name(id) + "_row[" + place + "]" + row_suffix_ + " = " + text + ";";
  return name(id) + "[" + place + "] = " + CudaStored(tensor(id).dtype, text) + ";";
}

void CudaWriter::Store(int id, const std::vector<Index>& at, const std::string& value) {
  code_.Line((StoresAlone() ? "if (rank == 0) " : "") + StoreText(id, at, value));
}

void CudaWriter::JoinTerm(const Pass& pass, const Statement& s, const std::string& value) {
  const Tensor& t = tensor(s.tensor);
  const std::string acc = name(s.tensor) + "_acc";
  if (!IsArg(t.combine)) {
    if (t.combine == Combine::kSum) {
      code_.Line(acc + " += " + Unwrapped(value) + ";");
    } else {
      code_.Line(acc + " = " + JoinText(t.combine, AccumulatorType(s), acc, value) + ";");
    }
    return;
  }
  context_.helpers.insert("take_better");
  code_.Line("take_better<" + std::string(t.combine == Combine::kArgMax ? "true" : "false") + ", " +
             CppType(s.value->type) + ">(" + acc + ", " + name(s.tensor) + "_place, " +
             Unwrapped(value) + ", " + PlaceInReduction(pass) + ");");
}

void CudaWriter::DeclareAccumulators(const Pass& pass) {
  for (const Statement& s : pass.statements) {
    if (!Reduces(s)) continue;
    const Tensor& t = tensor(s.tensor);
    const DType type = AccumulatorType(s);
    code_.Line(std::string(CppType(type)) + " " + name(s.tensor) +
               "_acc = " + Literal(*Identity(t.combine, type)) + ";");
    if (IsArg(t.combine)) code_.Line("int64_t " + name(s.tensor) + "_place = INT64_MAX;");
  }
}

namespace {

bool SameGuards(const Pass& pass) {
  const auto same = [](const Guard& a, const Guard& b) {
    return a.index == b.index && a.low == b.low && a.high == b.high;
  };
  const std::vector<Guard>& first = pass.statements[0].guards;
  return std::all_of(pass.statements.begin(), pass.statements.end(), [&](const Statement& s) {
    return s.guards.size() == first.size() &&
           std::equal(first.begin(), first.end(), s.guards.begin(), same);
  });
}

bool LoadedLater(const Pass& pass, size_t index) {
  bool found = false;
  for (size_t i = index + 1; i < pass.statements.size(); ++i) {
    VisitLoads(pass.statements[i].value, [&](const Expr& load) {
      found = found || load.tensor == pass.statements[index].tensor;
    });
  }
  return found;
}

}  // namespace

void CudaWriter::EmitStatement(const Pass& pass, size_t index) {
  const Statement& s = pass.statements[index];
  const Tensor& t = tensor(s.tensor);
  const std::string guard = SameGuards(pass) ? "" : GuardText(s.guards);
  if (!guard.empty()) {
    code_.Open("if (" + guard + ")");
    JoinTerm(pass, s, writer_.Text(s.value));
    code_.Close();
    return;
  }
  writer_.NameParts(s.value, code_, [this](const Expr& load) {
    return SurelyInside(tensor(load.tensor).shape, load.indices);
  });
  std::string value = writer_.Text(s.value);
  if (Reduces(s)) return JoinTerm(pass, s, value);
  const std::string type = CppType(t.dtype);
  const Place place = storage(s.tensor).place;
  if (IsScalar(s.tensor)) {
    code_.Line("const " + type + " " + ScalarName(s.tensor) + " = " + Unwrapped(value) + ";");
    if (place == Place::kGlobal) Store(s.tensor, s.at, ScalarName(s.tensor));
    return;
  }
  if (LoadedLater(pass, index)) {
    code_.Line("const " + type + " " + name(s.tensor) + "_now = " + Unwrapped(value) + ";");
    in_register_.insert(s.tensor);
    value = name(s.tensor) + "_now";
  }
  if (place == Place::kGlobal || place == Place::kRow) Store(s.tensor, s.at, value);
}

void CudaWriter::EmitBody(const Pass& pass) {
  std::vector<ExprPtr> values;
  for (const Statement& s : pass.statements) values.push_back(s.value);
  writer_.Begin(values);
  in_register_.clear();
  const std::string guard = SameGuards(pass) ? GuardText(pass.statements[0].guards) : "";
  if (!guard.empty()) code_.Open("if (" + guard + ")");
  for (size_t i = 0; i < pass.statements.size(); ++i) EmitStatement(pass, i);
  if (!guard.empty()) code_.Close();
  in_register_.clear();
}

}  // namespace kerf::synth
