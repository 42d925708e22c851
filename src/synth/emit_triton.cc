#include "synth/emit_triton.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "synth/emit_cpp.h"
#include "synth/emit_triton_group.h"
#include "synth/emit_triton_writer.h"

namespace kerf::synth {
namespace {

const std::set<std::string>& PythonWords() {
  static const std::set<std::string> words = {
      "and",   "as",    "assert",   "async",   "await",   "batch", "best",  "better", "class",
      "col",   "def",   "del",      "elif",    "except",  "exec",  "first", "from",   "global",
      "hold",  "i",     "import",   "in",      "inputs",  "is",    "j",     "k",      "lambda",
      "nn",    "None",  "nonlocal", "not",     "or",      "pass",  "print", "raise",  "row",
      "self",  "start", "sums",     "term",    "tile",    "tl",    "torch", "triton", "with",
      "yield", "zero0", "zero1",    "times",   "INF",     "NAN",   "True",  "False",  "range",
      "a",     "b",     "max_nan",  "min_nan", "truncate"};
  return words;
}

std::string TorchType(DType type) { return std::string("torch.") + DTypeName(type); }

std::string ShapeText(const Tensor& t) {
  std::string text = "(";
  for (const int64_t extent : t.shape) text += std::to_string(extent) + ", ";
  if (t.shape.size() > 1) text.resize(text.size() - 2);
  if (t.shape.size() == 1) text.pop_back();
  return text + ")";
}

class ModuleEmitter {
 public:
  ModuleEmitter(const Plan& plan, const Graph& graph) : plan_(plan), graph_(graph) {}

  std::variant<std::string, Refusal> Run() {
    names_ = NameTensors(plan_);
    for (std::string& name : names_) {
      const bool loop = name.size() <= 3 && std::strchr("ijv", name[0]) != nullptr;
      if (PythonWords().count(name) > 0 || loop) name += "_";
    }
    std::string kernels;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const int group = static_cast<int>(g);
      TritonKernel made = EmitTritonGroup(plan_, group, names_, NameGroup(plan_, group), helpers_);
      if (!made.refused.empty()) return RefusalOf(made.refused_at, made.refused);
      if (!made.text.empty()) kernels += "\n\n" + made.text;
      calls_.push_back(std::move(made));
    }
    const std::string model = Model();
    kernels = TritonHelperText(helpers_) + kernels.substr(std::min<size_t>(2, kernels.size()));
    return Head(kernels) + kernels + "\n\n" + model;
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return plan_.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const { return names_[static_cast<size_t>(id)]; }

  Refusal RefusalOf(int id, const std::string& reason) const {
    const Tensor& t = tensor(id);
    Refusal refusal;
    refusal.op = t.op;
    refusal.line = t.line;
    refusal.text = t.text;
    refusal.reason = "kerf's synthesizer does not write " + reason + " in Triton";
    refusal.advice = "use --impl cpp or cuda_c, or a model (--model openai:MODEL)";
    return refusal;
  }

  [[nodiscard]] std::string Head(const std::string& kernels) const {
    const auto count = [](size_t n, const char* word) {
      return std::to_string(n) + " " + word + (n == 1 ? "" : "s");
    };
    std::string text =
        "\"\"\"Written by kerf's synthesizer: " + count(graph_.nodes.size(), "operation") + " in " +
        count(plan_.groups.size(), "kernel") +
        ". Sizes are part of the kernels.\"\"\"\n\nimport torch\nimport torch.nn as "
        "nn\nimport triton\nimport triton.language as tl\n\n";
    const std::string constants[] = {"INF", "NAN"};
    for (const std::string& one : constants) {
      if (kernels.find(one) == std::string::npos) continue;
      const char* value = one == "INF" ? "inf" : "nan";
      text += one + " = tl.constexpr(float(\"" + value + "\"))\n";
    }
    return text + (text.back() == '\n' && text[text.size() - 2] == '\n' ? "\n" : "\n\n");
  }

  std::string Model() {
    PythonText code;
    WriteHold(code);
    code.Open("class ModelNew(nn.Module):");
    code.Open("def __init__(self, *args):");
    code.Line("super().__init__()");
    for (const GraphInput& input : graph_.inputs) {
      if (input.source != GraphInput::Source::kParam) continue;
      const TensorSpec& spec = graph_.values[static_cast<size_t>(input.value)].spec;
      Tensor shaped;
      shaped.shape = spec.shape;
      code.Line("hold(self, \"" + input.name + "\", torch.empty(" + ShapeText(shaped) +
                ", dtype=" + TorchType(spec.dtype) + "))");
    }
    for (const int id : plan_.program.inputs) {
      if (tensor(id).source.kind == GraphInput::Source::kConstant) WriteConstant(code, id);
    }
    code.Close();
    code.Line("");
    code.Open("def forward(self, *inputs):");
    WriteForward(code);
    code.Close();
    return code.text();
  }

  void WriteHold(PythonText& code) const {
    const bool any = std::any_of(graph_.inputs.begin(), graph_.inputs.end(), [](const auto& input) {
      return input.source == GraphInput::Source::kParam;
    });
    if (!any) return;
    code.Open("def hold(module, name, tensor):");
    code.Line("\"\"\"A place for part of the reference's state, under the same name.\"\"\"");
    code.Line("*path, last = name.split(\".\")");
    code.Open("for part in path:");
    code.Open("if not hasattr(module, part):");
    code.Line("module.add_module(part, nn.Module())");
    code.Close();
    code.Line("module = getattr(module, part)");
    code.Close();
    code.Line("module.register_buffer(last, tensor)");
    code.Close();
    code.Line("\n");
  }

  void WriteConstant(PythonText& code, int id) {
    const Tensor& t = tensor(id);
    std::string bytes;
    for (const char c : t.source.bytes) {
      static constexpr char kHexDigits[] = "0123456789abcdef";
      bytes += kHexDigits[static_cast<unsigned char>(c) >> 4];
      bytes += kHexDigits[static_cast<unsigned char>(c) & 15];
    }
    code.Line("# A tensor the reference makes itself.");
    if (t.numel() == 0) {
      code.Line("self.register_buffer(\"constant_" + name(id) + "\", torch.empty(" + ShapeText(t) +
                ", dtype=" + TorchType(t.dtype) + "), persistent=False)");
      return;
    }
    code.Line("data = bytearray.fromhex(\"" + bytes + "\")");
    code.Line("self.register_buffer(\"constant_" + name(id) + "\", torch.frombuffer(data, dtype=" +
              TorchType(t.dtype) + ").reshape(" + ShapeText(t) + "), persistent=False)");
  }

  // Every tensor the kernels use, by the name it has in them.
  void WriteForward(PythonText& code) {
    std::set<int> used;
    for (const TritonKernel& call : calls_)
      used.insert(call.arguments.begin(), call.arguments.end());
    std::string device;
    for (const SpecialisedNumber& number : graph_.specialised) {
      if (const auto value = number.value.AsNumber()) {
        const bool whole = number.value.kind() != GraphArg::Kind::kFloat;
        code.Line("assert inputs[" + std::to_string(number.index) + "] == " +
                  TritonNumber(whole ? DType::kInt64 : DType::kFloat32, *value,
                               static_cast<int64_t>(*value)));
      }
    }
    for (const int id : plan_.program.inputs) {
      const Tensor& t = tensor(id);
      if (used.count(id) == 0) continue;
      const std::string from = Source(id);
      code.Line(name(id) + " = " + from + ".contiguous()");
      if (device.empty()) device = name(id) + ".device";
      if (t.source.kind != GraphInput::Source::kInput) continue;
      code.Line("assert " + name(id) + ".shape == " + ShapeText(t) +
                ", \"sizes are part of the kernels\"");
    }
    if (device.empty()) device = "\"cpu\"";
    std::set<int> made(plan_.program.outputs.begin(), plan_.program.outputs.end());
    for (const int id : used) {
      if (tensor(id).kind != TensorKind::kInput) made.insert(id);
    }
    for (const int id : made)
      code.Line(name(id) + " = torch.empty(" + ShapeText(tensor(id)) +
                ", dtype=" + TorchType(tensor(id).dtype) + ", device=" + device + ")");
    for (const TritonKernel& call : calls_) {
      if (call.text.empty()) continue;
      std::string grid;
      for (const int64_t size : call.grid) grid += std::to_string(size) + ", ";
      std::string arguments;
      for (const int id : call.arguments) arguments += (arguments.empty() ? "" : ", ") + Passed(id);
      code.Line(call.name + "[(" + grid + ")](" + arguments + ")");
    }
    std::string results;
    for (const int id : plan_.program.outputs) results += (results.empty() ? "" : ", ") + name(id);
    code.Line("return " + results);
  }

  // Pointers to bool are read and written as bytes.
  [[nodiscard]] std::string Passed(int id) const {
    return tensor(id).dtype == DType::kBool ? name(id) + ".view(torch.int8)" : name(id);
  }

  [[nodiscard]] std::string Source(int id) const {
    const Tensor& t = tensor(id);
    if (t.source.kind == GraphInput::Source::kConstant) return "self.constant_" + name(id);
    if (t.source.kind == GraphInput::Source::kParam) {
      for (const GraphInput& input : graph_.inputs) {
        if (input.source == GraphInput::Source::kParam && input.index == t.source.index)
          return Attribute(input.name);
      }
    }
    std::string given = "inputs[" + std::to_string(t.source.index) + "]";
    if (!t.shape.empty()) return given;
    return "torch.as_tensor(" + given + ", dtype=" + TorchType(t.dtype) + ")";
  }

  // self.blocks.0.weight is no Python.
  static std::string Attribute(const std::string& path) {
    std::string text = "self";
    std::string part;
    const auto add = [&] {
      const bool number = !part.empty() && std::isdigit(static_cast<unsigned char>(part[0])) != 0;
      text = number ? "getattr(" + text + ", \"" + part + "\")" : text + "." + part;
      part.clear();
    };
    for (const char c : path) {
      if (c == '.') {
        add();
      } else {
        part += c;
      }
    }
    add();
    return text;
  }

  const Plan& plan_;
  const Graph& graph_;
  std::vector<std::string> names_;
  std::set<std::string> helpers_;
  std::vector<TritonKernel> calls_;
};

}  // namespace

Plan TritonPlan(const Program& program, int variant) {
  PlanOptions options;
  options.variant = variant;
  options.whole_rows = true;
  Plan plan = MakePlan(program, options);
  for (int round = 0; round < 4; ++round) {
    std::set<int> rows;
    for (size_t i = 0; i < plan.storage.size(); ++i) {
      if (plan.storage[i].place == Place::kRow &&
          plan.program.tensors[i].kind == TensorKind::kPointwise)
        rows.insert(static_cast<int>(i));
    }
    if (rows.empty()) break;
    options.inlined.insert(rows.begin(), rows.end());
    plan = MakePlan(program, options);
  }
  return plan;
}

std::variant<std::string, Refusal> EmitTriton(const Plan& plan, const Graph& graph) {
  return ModuleEmitter(plan, graph).Run();
}

}  // namespace kerf::synth
