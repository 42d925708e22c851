#include "synth/emit_cpp.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

#include "base/check.h"
#include "synth/emit_group.h"
#include "synth/emit_special.h"
#include "synth/helpers.h"

namespace kerf::synth {
namespace {

const std::set<std::string>& ReservedWords() {
  static const std::set<std::string> words = {
      "auto",   "bool",     "break",     "call",     "case",     "catch",    "char",   "class",
      "col",    "const",    "constexpr", "continue", "default",  "delete",   "do",     "double",
      "else",   "enum",     "export",    "extern",   "false",    "float",    "fold",   "for",
      "friend", "goto",     "if",        "inline",   "int",      "lane",     "long",   "namespace",
      "new",    "operator", "private",   "public",   "register", "return",   "row",    "short",
      "signed", "sizeof",   "static",    "struct",   "switch",   "template", "this",   "threads",
      "throw",  "true",     "try",       "turn",     "typedef",  "typename", "union",  "unsigned",
      "using",  "virtual",  "void",      "volatile", "while",    "at",       "and",    "or",
      "not",    "xor",      "block",     "last",     "col0",     "col_end",  "div",    "exp",
      "log",    "sin",      "cos",       "tan",      "abs",      "erf",      "floor",  "ceil",
      "round",  "sqrt",     "pow",       "tanh",     "std",      "main",     "bitand", "bitor",
      "compl",  "j0",       "index",     "y0",       "y1",       "yn",       "j1",     "jn",
      "gamma",  "asm",      "erfinv"};
  return words;
}

std::string Identifier(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!result.empty() && result.back() != '_')) result += plain ? c : '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0)
    result = "t" + result;
  if (result.size() > 40) result.resize(40);
  const bool loop_name =
      result.size() <= 3 && std::strchr("ijkv", result[0]) != nullptr &&
      std::all_of(result.begin() + 1, result.end(), [](char c) { return std::isdigit(c) != 0; });
  if (ReservedWords().count(result) > 0 || loop_name) result += "_";
  return result;
}

// "softmax" of "aten._softmax.default".
std::string ShortOp(const std::string& op) {
  const size_t begin = op.find('.') == std::string::npos ? 0 : op.find('.') + 1;
  return Identifier(op.substr(begin, op.find('.', begin) - begin));
}

template <typename T>
T ReadAt(const std::string& bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

std::string ConstantText(const Tensor& t, int64_t i) {
  const std::string& b = t.source.bytes;
  switch (t.dtype) {
    case DType::kBool:
      return ReadAt<uint8_t>(b, i) != 0 ? "true" : "false";
    case DType::kInt8:
      return std::to_string(ReadAt<int8_t>(b, i));
    case DType::kUInt8:
      return std::to_string(ReadAt<uint8_t>(b, i));
    case DType::kInt16:
      return std::to_string(ReadAt<int16_t>(b, i));
    case DType::kInt32:
      return std::to_string(ReadAt<int32_t>(b, i));
    case DType::kInt64:
      return ReadAt<int64_t>(b, i) == INT64_MIN ? "INT64_MIN"
                                                : std::to_string(ReadAt<int64_t>(b, i));
    case DType::kFloat32:
      return Literal({.op = Op::kConst, .type = DType::kFloat32, .number = ReadAt<float>(b, i)});
    case DType::kFloat64:
      return Literal({.op = Op::kConst, .type = DType::kFloat64, .number = ReadAt<double>(b, i)});
    default:
      return std::to_string(ReadAt<uint16_t>(b, i));
  }
}

class KernelEmitter {
 public:
  KernelEmitter(const Plan& plan, const Graph& graph) : plan_(plan), graph_(graph) {}

  std::string Run() {
    names_.tensor = NameTensors(plan_);
    for (size_t g = 0; g < plan_.groups.size(); ++g) EmitGroup(static_cast<int>(g));
    std::string body = functions_;
    EmitEntry();
    return Head() + HelperText(helpers_) + Constants() + body + "}  // namespace\n\n" +
           entry_.text();
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return plan_.program.tensors[static_cast<size_t>(id)];
  }

  void EmitGroup(int g) {
    const Group& group = plan_.groups[static_cast<size_t>(g)];
    const std::string function = NameGroup(plan_, g);
    GroupFunction made = group.special >= 0
                             ? EmitSpecial(plan_, group.special, names_, function, helpers_)
                             : GroupEmitter(plan_, g, names_, helpers_).Run(function);
    functions_ += made.text + "\n";
    calls_.push_back(std::move(made));
  }

  std::string Head() const {
    std::string text = "// Written by kerf's synthesizer: " + std::to_string(graph_.nodes.size()) +
                       (graph_.nodes.size() == 1 ? " operation" : " operations") + " in " +
                       std::to_string(plan_.groups.size()) +
                       (plan_.groups.size() == 1 ? " step" : " steps") + ".\n";
    text +=
        "// Nobody asks for errno or floating-point traps, and integers wrap as the reference's "
        "do. None\n"
        "// of this changes a result.\n"
        "#pragma GCC optimize(\"no-math-errno\", \"no-trapping-math\", \"wrapv\")\n"
        "#include <kerf/kernel.h>\n\n#include <algorithm>\n#include <cmath>\n#include "
        "<cstdint>\n#include <cstring>\n"
        "#include <initializer_list>\n#include <limits>\n#include <memory>\n#include <numeric>\n"
        "#include <type_traits>\n#include <vector>\n\n";
    const bool tiles = std::any_of(calls_.begin(), calls_.end(),
                                   [](const GroupFunction& call) { return call.tiles; });
    if (tiles) text += ContractionPrelude() + "\n";
    text += "namespace {\n\n";
    if (functions_.find("kLanes") != std::string::npos)
      text +=
          "// Partial results of a reduction, enough to hide the latency of an addition.\n"
          "constexpr int kLanes = 32;\n\n";
    text +=
        "bool has_shape(const DLTensor& tensor, std::initializer_list<int64_t> shape) {\n"
        "  return tensor.data != nullptr && tensor.ndim == static_cast<int32_t>(shape.size()) &&\n"
        "         std::equal(shape.begin(), shape.end(), tensor.shape);\n}\n\n";
    return text;
  }

  std::string Constants() const {
    std::string text;
    for (const int id : plan_.program.inputs) {
      const Tensor& t = tensor(id);
      if (t.source.kind != GraphInput::Source::kConstant) continue;
      text += "// A tensor the reference makes itself.\nconst " + std::string(StoredType(t.dtype)) +
              " " + names_.tensor[static_cast<size_t>(id)] + "[] = {";
      text += ConstantLines(t) + "\n};\n\n";
    }
    return text;
  }

  static std::string ShapeList(const Tensor& t) {
    std::string text = "{";
    for (size_t i = 0; i < t.shape.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(t.shape[i]);
    return text + "}";
  }

  void EmitEntry() {
    entry_.Open("KERF_KERNEL(call)");
    EmitChecks();
    std::set<int> used;
    for (const GroupFunction& call : calls_) {
      for (const Argument& argument : call.arguments) {
        if (argument.tensor >= 0) used.insert(argument.tensor);
      }
    }
    for (const int id : plan_.program.inputs) {
      const Tensor& t = tensor(id);
      if (used.count(id) == 0 || t.source.kind == GraphInput::Source::kConstant) continue;
      entry_.Line("const auto* " + names_.tensor[static_cast<size_t>(id)] + " = kerf_data<const " +
                  StoredType(t.dtype) + ">(call->" + Array(t) + ");");
    }
    for (size_t i = 0; i < plan_.program.outputs.size(); ++i) {
      const int id = plan_.program.outputs[i];
      if (used.count(id) == 0) continue;
      entry_.Line("auto* " + names_.tensor[static_cast<size_t>(id)] + " = kerf_data<" +
                  StoredType(tensor(id).dtype) + ">(call->outputs[" + std::to_string(i) + "]);");
      used.erase(id);
    }
    for (const int id : plan_.program.inputs) used.erase(id);
    for (const int id : used) {
      entry_.Line("const auto " + names_.tensor[static_cast<size_t>(id)] +
                  " = std::make_unique_for_overwrite<" + StoredType(tensor(id).dtype) + "[]>(" +
                  std::to_string(std::max<int64_t>(1, tensor(id).numel())) + ");");
    }
    for (const GroupFunction& call : calls_) {
      std::string text = call.name + "(";
      for (const Argument& argument : call.arguments) {
        const int id = argument.tensor;
        text += id < 0
                    ? "nullptr"
                    : names_.tensor[static_cast<size_t>(id)] + (used.count(id) > 0 ? ".get()" : "");
        if (argument.offset != 0) text += " + " + std::to_string(argument.offset);
        text += ", ";
      }
      entry_.Line(text + "call->threads);");
    }
    entry_.Line("return 0;");
    entry_.Close();
  }

  static std::string Array(const Tensor& t) {
    return std::string(t.source.kind == GraphInput::Source::kParam ? "params" : "inputs") + "[" +
           std::to_string(t.source.index) + "]";
  }

  void EmitChecks() {
    entry_.Comment("Sizes are part of the loops: other ones are refused.");
    int inputs = 0;
    int params = 0;
    for (const int id : plan_.program.inputs) {
      const Tensor& t = tensor(id);
      if (t.source.kind == GraphInput::Source::kInput)
        inputs = std::max(inputs, t.source.index + 1);
      if (t.source.kind == GraphInput::Source::kParam)
        params = std::max(params, t.source.index + 1);
    }
    entry_.Line("if (call->n_inputs < " + std::to_string(inputs) + " || call->n_params < " +
                std::to_string(params) + " || call->n_outputs != " +
                std::to_string(plan_.program.outputs.size()) + ") return 1;");
    for (const SpecialisedNumber& number : graph_.specialised) EmitNumberCheck(number);
    for (const int id : plan_.program.inputs) {
      const Tensor& t = tensor(id);
      if (t.source.kind != GraphInput::Source::kConstant)
        entry_.Line("if (!has_shape(call->" + Array(t) + ", " + ShapeList(t) + ")) return 1;");
    }
  }

  // A number the graph takes for granted.
  void EmitNumberCheck(const SpecialisedNumber& number) {
    const auto value = number.value.AsNumber();
    if (!value.has_value()) return;
    const std::string at = "call->inputs[" + std::to_string(number.index) + "]";
    const GraphArg::Kind kind = number.value.kind();
    const char* type = kind == GraphArg::Kind::kInt    ? "int64_t"
                       : kind == GraphArg::Kind::kBool ? "bool"
                                                       : "double";
    const std::string text =
        kind == GraphArg::Kind::kInt
            ? std::to_string(*number.value.AsInt())
            : Literal({.op = Op::kConst, .type = DType::kFloat64, .number = *value});
    entry_.Line("if (" + at + ".data == nullptr || *kerf_data<const " + type + ">(" + at +
                ") != " + text + ") return 1;");
  }

  const Plan& plan_;
  const Graph& graph_;
  EmitNames names_;
  std::set<std::string> helpers_;
  std::string functions_;
  std::vector<GroupFunction> calls_;
  CodeText entry_;
};

}  // namespace

std::vector<std::string> NameTensors(const Plan& plan) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Tensor& t : plan.program.tensors) {
    const std::string base = Identifier(!t.name.empty()   ? t.name
                                        : !t.what.empty() ? t.what
                                        : t.op.empty()    ? "t"
                                                          : ShortOp(t.op));
    std::string unique = base;
    for (int n = 1; !taken.insert(unique).second; ++n) unique = base + "_" + std::to_string(n);
    names.push_back(unique);
  }
  return names;
}

std::string NameGroup(const Plan& plan, int g) {
  const Group& group = plan.groups[static_cast<size_t>(g)];
  const int main_tensor =
      group.special >= 0 ? group.special : group.passes.back().statements.back().tensor;
  const std::string& op = plan.program.tensors[static_cast<size_t>(main_tensor)].op;
  return "step" + std::to_string(g + 1) + "_" + (op.empty() ? "copy" : ShortOp(op));
}

std::string ConstantLines(const Tensor& t) {
  std::string text;
  std::string line = "\n    ";
  for (int64_t i = 0; i < t.numel(); ++i) {
    line += ConstantText(t, i) + ", ";
    if (line.size() > 90) {
      text += line;
      line = "\n    ";
    }
  }
  return text + line + (t.numel() == 0 ? "0" : "");
}

std::string EmitCpp(const Plan& plan, const Graph& graph) {
  return KernelEmitter(plan, graph).Run();
}

}  // namespace kerf::synth
