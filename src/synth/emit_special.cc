#include "synth/emit_special.h"

#include <algorithm>

#include "base/check.h"

namespace kerf::synth {
namespace {

constexpr int64_t kParallelRows = 16;

class SpecialEmitter {
 public:
  SpecialEmitter(const Plan& plan, int id, const EmitNames& names, std::set<std::string>& helpers)
      : plan_(plan),
        made_(plan.program.tensors[static_cast<size_t>(id)]),
        id_(id),
        names_(names),
        helpers_(helpers) {}

  GroupFunction Run(const std::string& function) {
    std::vector<int> results = made_.special.results;
    if (results.empty()) results = {id_};
    std::string parameters;
    std::vector<int> arguments;
    const auto add = [&](int id, bool written) {
      arguments.push_back(id);
      parameters += std::string(written ? "" : "const ") + StoredType(tensor(id).dtype) +
                    "* __restrict " + name(id) + ", ";
    };
    for (const int id : made_.special.operands) {
      if (std::find(arguments.begin(), arguments.end(), id) == arguments.end()) add(id, false);
    }
    for (const int id : results) add(id, true);
    code_.Comment(made_.what + ".");
    if (made_.line > 0)
      code_.Line("//   line " + std::to_string(made_.line) + ": " + made_.text.substr(0, 80));
    code_.Open("void " + function + "(" + parameters + "int threads)");
    if (made_.special.name == "sort") {
      Sort();
    } else if (made_.special.name == "scatter" || made_.special.name == "scatter_flat") {
      Scatter();
    } else {
      KERF_CHECK(false, "every special algorithm is written");
    }
    code_.Close();
    std::vector<Argument> passed;
    for (const int id : arguments) passed.push_back({id, 0});
    return {function, code_.text(), passed, false};
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return plan_.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const {
    return names_.tensor[static_cast<size_t>(id)];
  }
  [[nodiscard]] int64_t number(const std::string& key) const {
    return made_.special.numbers.at(key);
  }

  std::string Read(DType stored, const std::string& text) {
    if (stored == DType::kFloat16) {
      helpers_.insert("load_half");
      return "load_half(" + text + ")";
    }
    if (stored == DType::kBFloat16) {
      helpers_.insert("load_bfloat");
      return "load_bfloat(" + text + ")";
    }
    return text;
  }

  std::string Write(DType stored, const std::string& text) {
    if (stored == DType::kFloat16) {
      helpers_.insert("store_half");
      return "store_half(" + text + ")";
    }
    if (stored == DType::kBFloat16) {
      helpers_.insert("store_bfloat");
      return "store_bfloat(" + text + ")";
    }
    return text;
  }

  // Row by row: numbers with their places, sorted with NaN as the largest, equal ones in order.
  void Sort() {
    const int keys = made_.special.operands[0];
    const int values = made_.special.results[0];
    const int places = made_.special.results[1];
    const int64_t extent = tensor(keys).shape.back();
    const int64_t rows = extent == 0 ? 0 : tensor(keys).numel() / extent;
    const int64_t count = number("count");
    const bool descending = number("descending") != 0;
    const DType stored = tensor(keys).dtype;
    const std::string type = CppType(stored);
    const bool is_float = IsFloat(stored);
    code_.Line("constexpr int64_t kLength = " + std::to_string(extent) +
               ", kCount = " + std::to_string(count) + ";");
    code_.Open("struct Entry");
    code_.Line(type + " key;");
    code_.Line("int64_t place;");
    code_.Close(";");
    code_.Open("const auto before = [](const Entry& a, const Entry& b)");
    const std::string x = descending ? "b" : "a";
    const std::string y = descending ? "a" : "b";
    if (is_float) {
      code_.Line("const bool less = " + x + ".key < " + y + ".key || (" + y + ".key != " + y +
                 ".key && " + x + ".key == " + x + ".key);");
      code_.Line("const bool more = " + y + ".key < " + x + ".key || (" + x + ".key != " + x +
                 ".key && " + y + ".key == " + y + ".key);");
    } else {
      code_.Line("const bool less = " + x + ".key < " + y + ".key;");
      code_.Line("const bool more = " + y + ".key < " + x + ".key;");
    }
    code_.Line("return less || (!more && a.place < b.place);");
    code_.Close(";");
    const bool parallel = rows >= 2 && tensor(keys).numel() >= kParallelRows * 256;
    if (parallel) code_.Line("#pragma omp parallel num_threads(threads)");
    code_.Open("");
    code_.Line("std::vector<Entry> entries(kLength);");
    if (parallel) code_.Line("#pragma omp for schedule(static)");
    code_.Open("for (int64_t row = 0; row < " + std::to_string(rows) + "; ++row)");
    code_.Line("for (int64_t k = 0; k < kLength; ++k) entries[k] = {" +
               Read(stored, name(keys) + "[row * kLength + k]") + ", k};");
    if (count < extent) {
      code_.Line(
          "std::partial_sort(entries.begin(), entries.begin() + kCount, entries.end(), before);");
    } else {
      code_.Line("std::sort(entries.begin(), entries.end(), before);");
    }
    code_.Open("for (int64_t k = 0; k < kCount; ++k)");
    code_.Line(name(values) + "[row * kCount + k] = " + Write(stored, "entries[k].key") + ";");
    code_.Line(name(places) + "[row * kCount + k] = entries[k].place;");
    code_.Close();
    code_.Close();
    code_.Close();
    if (!parallel) code_.Line("(void)threads;");
  }

  std::string Joined(DType stored, const std::string& old, const std::string& value) {
    const bool is_float = IsFloat(stored);
    switch (number("mode")) {
      case 1:
        return stored == DType::kBool ? old + " | " + value : old + " + " + value;
      case 2:
        return old + " * " + value;
      case 3:
        helpers_.insert(is_float ? "max_nan" : "max_int");
        return std::string(is_float ? "max_nan(" : "max_int(") + old + ", " + value + ")";
      case 4:
        helpers_.insert(is_float ? "min_nan" : "min_int");
        return std::string(is_float ? "min_nan(" : "min_int(") + old + ", " + value + ")";
      default:
        return value;
    }
  }

  // One after the other: two elements may have the same place, and the last one counts.
  void Scatter() {
    const int into = made_.special.operands[0];
    const int places = made_.special.operands[1];
    const int values = made_.special.operands[2];
    const DType stored = made_.dtype;
    code_.Line("(void)threads;");
    code_.Line("std::copy_n(" + name(into) + ", " + std::to_string(tensor(into).numel()) + ", " +
               name(id_) + ");");
    std::string target;
    const std::vector<int64_t>& shape = tensor(places).shape;
    if (made_.special.name == "scatter_flat") {
      code_.Open("for (int64_t i = 0; i < " + std::to_string(tensor(places).numel()) + "; ++i)");
      target = name(places) + "[i]";
      EmitPut(stored, target, values, "i");
      code_.Close();
      return;
    }
    const std::vector<int64_t> out = ContiguousStrides(made_.shape);
    const std::vector<int64_t> in = ContiguousStrides(shape);
    const auto axis = static_cast<size_t>(number("axis"));
    std::string at;
    for (size_t i = 0; i < shape.size(); ++i) {
      const std::string var = "i" + std::to_string(i);
      code_.Open("for (int64_t " + var + " = 0; " + var + " < " + std::to_string(shape[i]) +
                 "; ++" + var + ")");
      at += (i > 0 ? " + " : "") + var + " * " + std::to_string(in[i]);
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      target += (i > 0 ? " + " : "") +
                (i == axis ? name(places) + "[" + at + "]" : "i" + std::to_string(i)) + " * " +
                std::to_string(out[i]);
    }
    EmitPut(stored, target, values, at);
    for (size_t i = 0; i < shape.size(); ++i) code_.Close();
  }

  void EmitPut(DType stored, const std::string& target, int values, const std::string& at) {
    code_.Line("const int64_t place = " + target + ";");
    const std::string old = Read(stored, name(id_) + "[place]");
    const std::string value = Read(stored, name(values) + "[" + at + "]");
    code_.Line(name(id_) + "[place] = " + Write(stored, Joined(stored, old, value)) + ";");
  }

  const Plan& plan_;
  const Tensor& made_;
  int id_;
  const EmitNames& names_;
  std::set<std::string>& helpers_;
  CodeText code_;
};

}  // namespace

GroupFunction EmitSpecial(const Plan& plan, int tensor, const EmitNames& names,
                          const std::string& function, std::set<std::string>& helpers) {
  if (plan.program.tensors[static_cast<size_t>(tensor)].special.name == "attention")
    return EmitAttentionStep(plan, tensor, names, function, helpers);
  return SpecialEmitter(plan, tensor, names, helpers).Run(function);
}

}  // namespace kerf::synth
