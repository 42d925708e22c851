// Algorithms that are no loops over independent elements: sorting in shared memory, scattering.
#include <algorithm>

#include "synth/contraction_text.h"

#include "synth/emit_cuda_writer.h"

namespace kerf::synth {
namespace {

constexpr int64_t kLongestSort = 4096;  // keys and places of a row in 48 KB
constexpr int64_t kMostInOrder = 1 << 16;

class CudaSpecialEmitter {
 public:
  CudaSpecialEmitter(const CudaContext& context, int id)
      : context_(context), made_(context.plan.program.tensors[static_cast<size_t>(id)]), id_(id) {}

  CudaFunction Run(const std::string& function) {
    CudaFunction made;
    made.name = function;
    const std::string problem = Problem();
    if (!problem.empty()) {
      made.refusal = CudaRefusal(made_, problem);
      return made;
    }
    std::vector<int> results = made_.special.results;
    if (results.empty()) results = {id_};
    std::string parameters;
    std::string list;
    const auto add = [&](int id, bool written) {
      if (IsConstantInput(context_.plan, id)) return;
      if (std::find(made.arguments.begin(), made.arguments.end(), id) != made.arguments.end())
        return;
      made.arguments.push_back(id);
      parameters += std::string(parameters.empty() ? "" : ", ") + (written ? "" : "const ") +
                    CudaType(tensor(id).dtype) + "* __restrict__ " + name(id);
      list += (list.empty() ? "" : ", ") + name(id);
    };
    for (const int id : made_.special.operands) add(id, false);
    for (const int id : results) add(id, true);
    code_.Comment(made_.what + ".");
    if (made_.line > 0)
      code_.Line("//   line " + Number(made_.line) + ": " + made_.text.substr(0, 80));
    if (made_.special.name == "sort") {
      made.launch = Sort(function, parameters, list);
    } else {
      made.launch = Scatter(function, parameters, list);
    }
    made.text = code_.text();
    return made;
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return context_.plan.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const {
    return context_.names[static_cast<size_t>(id)];
  }
  [[nodiscard]] int64_t number(const std::string& key) const {
    return made_.special.numbers.at(key);
  }

  [[nodiscard]] std::string Problem() const {
    const std::string& kind = made_.special.name;
    if (kind == "sort") {
      return tensor(made_.special.operands[0]).shape.back() <= kLongestSort
                 ? ""
                 : "kerf's synthesizer sorts at most " + Number(kLongestSort) +
                       " elements in CUDA C";
    }
    if (IsConstantInput(context_.plan, made_.special.operands[0]))
      return "kerf's synthesizer does not scatter into a constant in CUDA C";
    if (kind == "scatter") return "";
    if (kind == "scatter_flat") {
      return tensor(made_.special.operands[1]).numel() <= kMostInOrder
                 ? ""
                 : "kerf's synthesizer scatters at most " + Number(kMostInOrder) +
                       " elements to free places in CUDA C";
    }
    return "kerf's synthesizer does not write this in CUDA C";
  }

  static int64_t PowerOfTwo(int64_t value) {
    int64_t power = 2;
    while (power < value) power *= 2;
    return power;
  }

  // A bitonic network over keys and places: equal keys stay in order because places differ.
  std::vector<std::string> Sort(const std::string& function, const std::string& parameters,
                                const std::string& list) {
    const int keys = made_.special.operands[0];
    const int values = made_.special.results[0];
    const int places = made_.special.results[1];
    const int64_t extent = tensor(keys).shape.back();
    const int64_t rows = extent == 0 ? 0 : tensor(keys).numel() / extent;
    const int64_t size = PowerOfTwo(extent);
    const int64_t threads = std::clamp<int64_t>(size / 2, 32, 512);
    const DType stored = tensor(keys).dtype;
    const std::string type = CppType(stored);
    code_.Comment(
        "One block for each row. A bitonic network in shared memory; NaN is the largest, equal "
        "keys keep their order because their places differ.");
    code_.Open("__global__ void __launch_bounds__(" + Number(threads) + ") " + function + "(" +
               parameters + ")");
    code_.Line("constexpr int kLength = " + Number(extent) + ", kSize = " + Number(size) +
               ", kCount = " + Number(number("count")) + ", kThreads = " + Number(threads) + ";");
    code_.Line("__shared__ " + type + " key[kSize];");
    code_.Line("__shared__ int place[kSize];");
    code_.Line("const int64_t row = blockIdx.x;");
    code_.Open("for (int i = threadIdx.x; i < kSize; i += kThreads)");
    code_.Line("key[i] = i < kLength ? " + CudaLoad(context_, keys, "row * kLength + i") + " : " +
               type + "(0);");
    code_.Line("place[i] = i;");
    code_.Close();
    code_.Line("__syncthreads();");
    const bool descending = number("descending") != 0;
    const std::string x = descending ? "b" : "a";
    const std::string y = descending ? "a" : "b";
    code_.Comment("Places beyond the row come last.");
    code_.Open("const auto before = [&](" + type + " a, int at, " + type + " b, int other)");
    code_.Line("if (at >= kLength || other >= kLength) return at < other;");
    const std::string nan_less =
        IsFloat(stored) ? " || (" + y + " != " + y + " && " + x + " == " + x + ")" : "";
    const std::string nan_more =
        IsFloat(stored) ? " || (" + x + " != " + x + " && " + y + " == " + y + ")" : "";
    code_.Line("if (" + x + " < " + y + nan_less + ") return true;");
    code_.Line("if (" + y + " < " + x + nan_more + ") return false;");
    code_.Line("return at < other;");
    code_.Close(";");
    code_.Open("for (int width = 2; width <= kSize; width *= 2)");
    code_.Open("for (int step = width / 2; step > 0; step /= 2)");
    code_.Open("for (int pair = threadIdx.x; pair < kSize / 2; pair += kThreads)");
    code_.Line("const int low = pair / step * step * 2 + pair % step;");
    code_.Line("const int high = low + step;");
    code_.Line("const bool rising = (low & width) == 0;");
    code_.Line("const " + type + " a = key[low], b = key[high];");
    code_.Line("const int at = place[low], other = place[high];");
    code_.Open("if (before(a, at, b, other) != rising)");
    code_.Line("key[low] = b;");
    code_.Line("key[high] = a;");
    code_.Line("place[low] = other;");
    code_.Line("place[high] = at;");
    code_.Close();
    code_.Close();
    code_.Line("__syncthreads();");
    code_.Close();
    code_.Close();
    code_.Open("for (int i = threadIdx.x; i < kCount; i += kThreads)");
    code_.Line(name(values) + "[row * kCount + i] = " + CudaStored(stored, "key[i]") + ";");
    code_.Line(name(places) + "[row * kCount + i] = place[i];");
    code_.Close();
    code_.Close();
    if (rows == 0 || number("count") == 0) return {};
    return {function + "<<<" + Number(rows) + ", " + Number(threads) + ", 0, stream>>>(" + list +
            ");"};
  }

  std::string Joined(DType stored, const std::string& old, const std::string& value) {
    const std::string kind = IsFloat(stored) ? "_nan(" : "_int(";
    switch (number("mode")) {
      case 1:
        return stored == DType::kBool ? old + " | " + value : old + " + " + value;
      case 2:
        return old + " * " + value;
      case 3:
        context_.helpers.insert(IsFloat(stored) ? "max_nan" : "max_int");
        return "max" + kind + old + ", " + value + ")";
      case 4:
        context_.helpers.insert(IsFloat(stored) ? "min_nan" : "min_int");
        return "min" + kind + old + ", " + value + ")";
      default:
        return value;
    }
  }

  void EmitPut(const std::string& target, const std::string& at) {
    const DType stored = made_.dtype;
    code_.Line("const int64_t place = " + target + ";");
    const std::string old = CudaLoad(context_, id_, "place");
    const std::string value = CudaLoad(context_, made_.special.operands[2], at);
    code_.Line(name(id_) + "[place] = " +
               CudaStored(stored, "(" + std::string(CppType(stored)) + ")(" +
                                      Joined(stored, old, value) + ")") +
               ";");
  }

  // Elements with the same place are taken in order, by one thread: the result does not depend on
  // which thread comes first.
  std::vector<std::string> Scatter(const std::string& function, const std::string& parameters,
                                   const std::string& list) {
    const int into = made_.special.operands[0];
    const int places = made_.special.operands[1];
    const std::vector<int64_t>& shape = tensor(places).shape;
    const int64_t bytes = made_.numel() * static_cast<int64_t>(DTypeBytes(made_.dtype));
    int64_t lines = 1;
    code_.Comment(
        "One thread for each line along the axis, its elements in order: those with the same "
        "place always join in the same way.");
    code_.Open("__global__ void " + function + "(" + parameters + ")");
    code_.Line("const int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;");
    if (made_.special.name == "scatter_flat") {
      code_.Line("if (line >= 1) return;");
      code_.Open("for (int64_t i = 0; i < " + Number(tensor(places).numel()) + "; ++i)");
      EmitPut(CudaLoad(context_, places, "i"), "i");
      code_.Close();
    } else {
      lines = EmitLines(places, shape);
    }
    code_.Close();
    std::vector<std::string> launch;
    if (bytes > 0)
      launch.push_back("cudaMemcpyAsync(" + name(id_) + ", " + name(into) + ", " + Number(bytes) +
                       ", cudaMemcpyDeviceToDevice, stream);");
    if (lines > 0 && tensor(places).numel() > 0)
      launch.push_back(function + "<<<" + Number((lines + 127) / 128) + ", 128, 0, stream>>>(" +
                       list + ");");
    return launch;
  }

  int64_t EmitLines(int places, const std::vector<int64_t>& shape) {
    const std::vector<int64_t> out = ContiguousStrides(made_.shape);
    const std::vector<int64_t> in = ContiguousStrides(shape);
    const auto axis = static_cast<size_t>(number("axis"));
    int64_t lines = 1;
    for (size_t i = 0; i < shape.size(); ++i) lines *= i == axis ? 1 : shape[i];
    code_.Line("if (line >= " + Number(lines) + ") return;");
    int64_t below = lines;
    std::string at = "n * " + Number(in[axis]);
    std::string rest;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i == axis) continue;
      below /= shape[i];
      const std::string var = "i" + Number(static_cast<int64_t>(i));
      code_.Line("const int64_t " + var + " = line / " + Number(below) + " % " + Number(shape[i]) +
                 ";");
      at += " + " + var + " * " + Number(in[i]);
      rest += " + " + var + " * " + Number(out[i]);
    }
    code_.Open("for (int64_t n = 0; n < " + Number(shape[axis]) + "; ++n)");
    EmitPut(CudaLoad(context_, places, at) + " * " + Number(out[axis]) + rest, at);
    code_.Close();
    return lines;
  }

  const CudaContext& context_;
  const Tensor& made_;
  int id_;
  CodeText code_;
};

}  // namespace

CudaFunction EmitCudaSpecial(const CudaContext& context, int id, const std::string& name) {
  return CudaSpecialEmitter(context, id).Run(name);
}

}  // namespace kerf::synth
