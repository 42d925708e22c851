#include "synth/emit_cuda.h"

#include <algorithm>

#include "synth/emit_cpp.h"
#include "synth/emit_cuda_group.h"
#include "synth/emit_cuda_helpers.h"
#include "synth/plan.h"

namespace kerf::synth {
namespace {

constexpr int64_t kAlignment = 256;  // of temporaries

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Device code has no <limits>.
std::string WithCudaLiterals(std::string text) {
  text = Replaced(std::move(text), "std::numeric_limits<float>::infinity()", "INFINITY");
  text = Replaced(std::move(text), "std::numeric_limits<float>::quiet_NaN()", "NAN");
  text = Replaced(std::move(text), "std::numeric_limits<double>::infinity()", "(double)INFINITY");
  text = Replaced(std::move(text), "std::numeric_limits<double>::quiet_NaN()", "(double)NAN");
  text = Replaced(std::move(text), "std::numeric_limits<int64_t>::min()", "INT64_MIN");
  return Replaced(std::move(text), "INT64_MIN", "(-INT64_MAX - 1)");
}

// Names that the kernels use themselves.
const std::set<std::string>& KernelWords() {
  static const std::set<std::string> words = {
      "turn",  "rank",   "team",   "here", "stream", "chunk", "inside", "step",  "scratch", "left",
      "right", "sum",    "thread", "down", "across", "batch", "read",   "line",  "deep",    "key",
      "place", "before", "low",    "high", "rising", "width", "pair",   "other", "half",    "n",
      "a",     "b",      "v",      "min",  "max",    "Pack",  "float4", "dim3",  "norm"};
  return words;
}

const std::set<std::string>& MathWords() {
  static const std::set<std::string> words = {
      "exp",   "exp2",  "expm1", "log",  "log2",  "log10",  "log1p",     "tanh",    "erf",
      "sin",   "cos",   "tan",   "asin", "acos",  "atan",   "sinh",      "cosh",    "asinh",
      "acosh", "atanh", "erfc",  "sqrt", "floor", "ceil",   "nearbyint", "trunc",   "atan2",
      "hypot", "pow",   "fabs",  "fmod", "fma",   "lgamma", "copysign",  "erfinv",  "rsqrt",
      "abs",   "round", "fmax",  "fmin", "isnan", "isinf",  "sigmoid",   "signbit", "rint",
      "index", "time",  "expf",  "logf", "sinf",  "cosf",   "remainder", "is_nan",  "is_inf"};
  return words;
}

class CudaEmitter {
 public:
  CudaEmitter(Plan& plan, const Graph& graph) : plan_(plan), graph_(graph) {}

  std::variant<std::string, Refusal> Run() {
    const std::vector<CudaTeam> teams = ChooseCudaTeams(plan_);
    names_ = NameTensors(plan_);
    for (std::string& name : names_) {
      if (KernelWords().count(name) > 0 || MathWords().count(name) > 0) name += "_";
    }
    CudaContext context{plan_, names_, helpers_, teams, IndexType()};
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      CudaFunction made = EmitGroup(context, static_cast<int>(g));
      if (made.refusal.has_value()) return *made.refusal;
      if (!made.text.empty()) functions_ += made.text + "\n";
      calls_.push_back(std::move(made));
    }
    EmitEntry();
    return WithCudaLiterals(Head() + CudaHelperText(helpers_) + Constants() + functions_ +
                            entry_.text());
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return plan_.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const { return names_[static_cast<size_t>(id)]; }

  // 32-bit arithmetic is several times faster; almost everything fits.
  [[nodiscard]] const char* IndexType() const {
    constexpr int64_t kMost = (int64_t{1} << 31) - (1 << 24);
    for (const Tensor& t : plan_.program.tensors) {
      if (t.numel() >= kMost) return "int64_t";
    }
    for (const Group& group : plan_.groups) {
      for (const Pass& pass : group.passes) {
        int64_t turns = 1;
        for (const Loop& loop : pass.loops) turns *= loop.extent;
        if (turns >= kMost) return "int64_t";
      }
    }
    return "int";
  }

  CudaFunction EmitGroup(const CudaContext& context, int g) {
    const Group& group = plan_.groups[static_cast<size_t>(g)];
    const std::string function = NameGroup(plan_, g);
    if (group.special >= 0) return EmitCudaSpecial(context, group.special, function);
    if (auto product = EmitCudaProduct(context, g, function)) return *std::move(product);
    return EmitCudaGroup(context, g, function);
  }

  [[nodiscard]] std::string Head() const {
    const auto count = [](size_t n, const char* word) {
      return std::to_string(n) + " " + word + (n == 1 ? "" : "s");
    };
    std::string text =
        "// Written by kerf's synthesizer: " + count(graph_.nodes.size(), "operation") + " in " +
        count(plan_.groups.size(), "kernel") + ".\n" + "#include <cuda_runtime.h>\n";
    const auto any = [&](DType type) {
      return std::any_of(plan_.program.tensors.begin(), plan_.program.tensors.end(),
                         [&](const Tensor& t) { return t.dtype == type; });
    };
    if (any(DType::kFloat16)) text += "#include <cuda_fp16.h>\n";
    if (any(DType::kBFloat16)) text += "#include <cuda_bf16.h>\n";
    return text + "#include <kerf/kernel.h>\n#include <math.h>\n#include <stdint.h>\n\n";
  }

  [[nodiscard]] std::string Constants() const {
    std::string text;
    for (const int id : plan_.program.inputs) {
      if (!IsConstantInput(plan_, id)) continue;
      text += "// A tensor the reference makes itself.\n__device__ const " +
              std::string(StoredType(tensor(id).dtype)) + " " + name(id) + "[] = {" +
              ConstantLines(tensor(id)) + "\n};\n\n";
    }
    return text;
  }

  static std::string Array(const Tensor& t) {
    return std::string(t.source.kind == GraphInput::Source::kParam ? "params" : "inputs") + "[" +
           std::to_string(t.source.index) + "]";
  }

  void EmitChecks() {
    entry_.Comment("Sizes are part of the kernels: other ones are refused.");
    int inputs = 0;
    int params = 0;
    std::vector<std::string> wrong;
    for (const int id : plan_.program.inputs) {
      const Tensor& t = tensor(id);
      if (t.source.kind == GraphInput::Source::kInput)
        inputs = std::max(inputs, t.source.index + 1);
      if (t.source.kind == GraphInput::Source::kParam)
        params = std::max(params, t.source.index + 1);
      if (t.source.kind != GraphInput::Source::kConstant)
        wrong.push_back("if (" + OtherShape(t) + ") return 1;");
    }
    entry_.Line("if (call->n_inputs < " + std::to_string(inputs) + " || call->n_params < " +
                std::to_string(params) + " || call->n_outputs != " +
                std::to_string(plan_.program.outputs.size()) + ") return 1;");
    for (const std::string& line : wrong) entry_.Line(line);
  }

  static std::string OtherShape(const Tensor& t) {
    const std::string array = "call->" + Array(t);
    std::string text = array + ".ndim != " + std::to_string(t.rank());
    for (size_t i = 0; i < t.shape.size(); ++i)
      text += " || " + array + ".shape[" + std::to_string(i) + "] != " + std::to_string(t.shape[i]);
    return text;
  }

  void EmitEntry() {
    entry_.Open("KERF_KERNEL(call)");
    EmitChecks();
    std::set<int> used;
    for (const CudaFunction& call : calls_)
      used.insert(call.arguments.begin(), call.arguments.end());
    std::vector<int> numbers;  // may lie in host memory
    for (const int id : plan_.program.inputs) {
      if (used.erase(id) == 0) continue;
      if (tensor(id).rank() == 0 && tensor(id).source.kind == GraphInput::Source::kInput) {
        numbers.push_back(id);
      }
      entry_.Line("const auto* " + name(id) + " = kerf_data<const " + CudaType(tensor(id).dtype) +
                  ">(call->" + Array(tensor(id)) + ");");
      pointers_.push_back(id);
    }
    for (size_t i = 0; i < plan_.program.outputs.size(); ++i) {
      const int id = plan_.program.outputs[i];
      if (used.erase(id) == 0) continue;
      entry_.Line("auto* " + name(id) + " = kerf_data<" + CudaType(tensor(id).dtype) +
                  ">(call->outputs[" + std::to_string(i) + "]);");
      pointers_.push_back(id);
    }
    entry_.Line("const auto stream = (cudaStream_t)call->stream;");
    EmitAlignment();
    EmitTemporaries(used, numbers);
    for (const CudaFunction& call : calls_) {
      for (const std::string& line : call.launch) entry_.Line(line);
    }
    if (!used.empty() || !numbers.empty()) entry_.Line("cudaFreeAsync(scratch, stream);");
    entry_.Line("return cudaGetLastError() != cudaSuccess;");
    entry_.Close();
  }

  // Packs are read at once: that needs addresses which are multiples of their size.
  void EmitAlignment() {
    if (helpers_.count("Pack") == 0 || pointers_.empty()) return;
    std::string list;
    for (const int id : pointers_) {
      if (tensor(id).numel() * static_cast<int64_t>(DTypeBytes(tensor(id).dtype)) < 16) continue;
      list += (list.empty() ? "(uintptr_t)" : " | (uintptr_t)") + name(id);
    }
    if (!list.empty()) entry_.Line("if ((" + list + ") % 16 != 0) return 1;");
  }

  void EmitTemporaries(const std::set<int>& used, const std::vector<int>& numbers) {
    if (used.empty() && numbers.empty()) return;
    int64_t bytes = 0;
    std::vector<std::string> lines;
    for (const int id : used) {
      lines.push_back("auto* " + name(id) + " = (" + CudaType(tensor(id).dtype) + "*)(scratch + " +
                      std::to_string(bytes) + ");");
      const int64_t own = tensor(id).numel() * static_cast<int64_t>(DTypeBytes(tensor(id).dtype));
      bytes += (std::max<int64_t>(own, 1) + kAlignment - 1) / kAlignment * kAlignment;
    }
    for (const int id : numbers) {
      const std::string at = "scratch + " + std::to_string(bytes);
      lines.push_back("if (call->" + Array(tensor(id)) +
                      ".device.device_type == kDLCPU) {  // a Python number");
      lines.push_back("  cudaMemcpyAsync(" + at + ", " + name(id) + ", sizeof(*" + name(id) +
                      "), cudaMemcpyHostToDevice, stream);");
      lines.push_back("  " + name(id) + " = (const " + CudaType(tensor(id).dtype) + "*)(" + at +
                      ");");
      lines.emplace_back("}");
      bytes += kAlignment;
    }
    entry_.Comment(numbers.empty() ? "What one kernel leaves for another."
                                   : "What one kernel leaves for another, and numbers.");
    entry_.Line("char* scratch = nullptr;");
    entry_.Line("if (cudaMallocAsync((void**)&scratch, " + std::to_string(bytes) +
                ", stream) != cudaSuccess) return 1;");
    for (const std::string& line : lines) entry_.Line(line);
  }

  Plan& plan_;
  const Graph& graph_;
  std::vector<std::string> names_;
  std::set<std::string> helpers_;
  std::string functions_;
  std::vector<CudaFunction> calls_;
  std::vector<int> pointers_;
  CodeText entry_;
};

}  // namespace

namespace {

// More pieces than on a CPU, because there are more threads to fill.
PlanOptions CudaPlanOptions(int variant) {
  PlanOptions options;
  options.threads = 66;  // rows are fused where there are four for each: two blocks for each of 132
                         // multiprocessors
  options.cache_bytes = 64 << 10;
  options.variant = variant;
  options.blocks = 1024;
  return options;
}

// Rows that would go to memory and back, where recomputing them reads no more than that.
std::set<int> BetterRecomputed(const Plan& planned, const Plan& placed) {
  constexpr int kMostNodes = 60;
  std::set<int> ids;
  for (const Group& group : planned.groups) {
    for (const int id : group.rows) {
      const Tensor& t = planned.program.tensors[static_cast<size_t>(id)];
      const bool moved = placed.storage[static_cast<size_t>(id)].place == Place::kGlobal;
      if (moved && t.kind == TensorKind::kPointwise && ExprSize(t.body) < kMostNodes)
        ids.insert(id);
    }
  }
  return ids;
}

}  // namespace

Plan CudaPlan(Program program, int variant) {
  WalkKernels(program);
  PlanOptions options = CudaPlanOptions(variant);
  Plan plan = MakePlan(program, options);
  Plan placed = plan;
  ChooseCudaTeams(placed);
  options.inlined = BetterRecomputed(plan, placed);
  if (!options.inlined.empty()) plan = MakePlan(std::move(program), options);
  return plan;
}

std::variant<std::string, Refusal> EmitCuda(Plan plan, const Graph& graph) {
  return CudaEmitter(plan, graph).Run();
}

}  // namespace kerf::synth
