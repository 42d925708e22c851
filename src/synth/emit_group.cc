// The loops around a group: outer loops shared by the threads, buffers, and the passes in order.
// What a pass looks like inside is in emit_pass.cc.
#include "synth/emit_group.h"

#include <algorithm>

#include "base/check.h"
#include "synth/stage.h"

namespace kerf::synth {

GroupEmitter::GroupEmitter(const Plan& plan, int group, const EmitNames& names,
                           std::set<std::string>& helpers)
    : plan_(plan),
      group_(plan.groups[static_cast<size_t>(group)]),
      index_(group),
      names_(names),
      helpers_(helpers),
      writer_(
          helpers, [this](int var) { return VarName(var); },
          [this](const Expr& load) { return LoadText(load); }) {}

std::string GroupEmitter::VarName(int var) const {
  const auto at = vars_.find(var);
  KERF_CHECK(at != vars_.end(), "every loop variable in an index has a loop");
  return at->second;
}

void GroupEmitter::NameLoops() {
  std::vector<int> rest;
  for (size_t k = 0; k < group_.outer.size(); ++k) {
    if (static_cast<int>(k) == group_.lane) {
      vars_[group_.outer[k].var] = "col";
    } else {
      rest.push_back(group_.outer[k].var);
    }
  }
  for (size_t k = 0; k < rest.size(); ++k)
    vars_[rest[k]] = rest.size() == 1 ? "row" : "i" + std::to_string(k);
  for (const Pass& pass : group_.passes) {
    for (size_t k = 0; k < pass.loops.size(); ++k) {
      const bool reduced = k >= pass.kept;
      const size_t number = reduced ? k - pass.kept : k;
      const size_t count = reduced ? pass.loops.size() - pass.kept : pass.kept;
      const std::string letter = reduced ? "k" : "j";
      vars_[pass.loops[k].var] = pass.loops.size() == 1 && !lanes() ? "col"
                                 : count == 1                       ? letter
                                              : letter + std::to_string(number);
    }
  }
}

void GroupEmitter::CollectArguments() {
  std::set<int> seen;
  const auto add = [&](int id) {
    if (storage(id).place == Place::kGlobal && seen.insert(id).second) arguments_.push_back(id);
  };
  for (const Pass& pass : group_.passes) {
    for (const Statement& s : pass.statements)
      VisitLoads(s.value, [&](const Expr& load) { add(load.tensor); });
  }
  for (const Pass& pass : group_.passes) {
    for (const Statement& s : pass.statements) add(s.tensor);
  }
}

GroupFunction GroupEmitter::Run(const std::string& function) {
  if (auto product = RunContraction(function)) return *std::move(product);
  NameLoops();
  CollectArguments();
  Describe();
  std::string parameters;
  for (const int id : arguments_) {
    const bool written = storage(id).group == index_;
    parameters += std::string(written ? "" : "const ") + StoredType(tensor(id).dtype) +
                  "* __restrict " + name(id) + ", ";
  }
  code_.Open("void " + function + "(" + parameters + "int threads)");
  EmitOuter();
  code_.Close();
  std::vector<Argument> arguments;
  for (const int id : arguments_) arguments.push_back({id, 0});
  return {function, code_.text(), arguments, false};
}

namespace {

std::string TrimmedLine(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  std::string line = text.substr(first);
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\\') c = ' ';
  }
  return line.size() > 90 ? line.substr(0, 87) + "..." : line;
}

std::string Bytes(int64_t bytes) {
  if (bytes >= 1 << 20) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1 << 10) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " bytes";
}

}  // namespace

// What the function computes, for which lines, and why its loops are as they are.
void GroupEmitter::Describe() {
  std::string what;
  std::set<std::string> said;
  std::vector<std::string> lines;
  for (const Pass& pass : group_.passes) {
    for (const Statement& s : pass.statements) {
      const Tensor& t = tensor(s.tensor);
      const std::string word = t.what.empty() ? t.op : t.what;
      if (said.insert(word).second) what += (what.empty() ? "" : ", ") + word;
      const std::string line =
          t.line > 0 ? "line " + std::to_string(t.line) + ": " + TrimmedLine(t.text) : "";
      if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(line);
    }
  }
  code_.Comment(what + ".");
  for (const std::string& line : lines) code_.Line("//   " + line);
  if (lanes() && group_.passes.size() == 1 && group_.passes[0].loops.empty()) {
    code_.Comment("Elements are independent: neighbours fill the vectors" +
                  std::string(group_.parallel ? ", the threads share the rest." : "."));
  } else if (lanes()) {
    code_.Comment("Vectors are filled across " + std::to_string(group_.lane_tile) +
                  " neighbouring columns, because memory is contiguous there.");
  } else if (group_.passes.size() > 1) {
    int64_t row = 0;
    for (const int id : group_.rows)
      row += storage(id).row_elements *
             static_cast<int64_t>(DTypeBytes(RegisterType(tensor(id).dtype)));
    std::string text =
        "Each turn of the outer loops makes all passes over its own row, which stays in cache";
    if (row > 0) text += " with " + Bytes(row) + " of buffers";
    code_.Comment(text + ".");
  }
}

std::string GroupEmitter::LaneIndex() const { return "[col - col0]"; }

std::string GroupEmitter::ScalarName(int id) const {
  return storage(id).place == Place::kGlobal ? name(id) + "_value" : name(id);
}

bool GroupEmitter::MayName(const Expr& load) const {
  return SurelyInside(tensor(load.tensor).shape, load.indices);
}

namespace {

std::string Converted(DType stored, const std::string& text, std::set<std::string>& helpers) {
  if (stored == DType::kFloat16) {
    helpers.insert("load_half");
    return "load_half(" + text + ")";
  }
  if (stored == DType::kBFloat16) {
    helpers.insert("load_bfloat");
    return "load_bfloat(" + text + ")";
  }
  return text;
}

}  // namespace

std::string GroupEmitter::LoadText(const Expr& load) {
  const int id = load.tensor;
  const Storage& s = storage(id);
  if (in_register_.count(id) > 0) return name(id) + "_now";
  const bool own = s.group == index_;
  if (own && (s.place == Place::kScalar || s.also_scalar))
    return ScalarName(id) + (lanes() ? LaneIndex() : "");
  const std::string place = writer_.Text(PlaceOf(plan_, id, load.indices));
  if (s.place == Place::kRow) {
    if (!lanes()) return name(id) + "_row[" + place + "]";
    const bool simple = place.find(' ') == std::string::npos;
    return name(id) + "_row[" + (simple ? place : "(" + place + ")") + " * kTile + col - col0]";
  }
  return Converted(tensor(id).dtype, name(id) + "[" + place + "]", helpers_);
}

std::string GroupEmitter::StoreText(int id, const std::vector<Index>& at,
                                    const std::string& value) {
  const DType stored = tensor(id).dtype;
  std::string text = Unwrapped(value);
  const std::string place = writer_.Text(PlaceOf(plan_, id, at));
  if (storage(id).place == Place::kRow) {
    if (!lanes()) return name(id) + "_row[" + place + "] = " + text + ";";
    const bool simple = place.find(' ') == std::string::npos;
    return name(id) + "_row[" + (simple ? place : "(" + place + ")") +
           " * kTile + col - col0] = " + text + ";";
  }
  if (stored == DType::kFloat16) {
    helpers_.insert("store_half");
    text = "store_half(" + text + ")";
  } else if (stored == DType::kBFloat16) {
    helpers_.insert("store_bfloat");
    text = "store_bfloat(" + text + ")";
  }
  return name(id) + "[" + place + "] = " + text + ";";
}

void GroupEmitter::EmitRowBuffers() {
  for (const int id : group_.rows) {
    const int64_t elements = storage(id).row_elements * (lanes() ? group_.lane_tile : 1);
    code_.Line("const auto " + name(id) + "_row = std::make_unique_for_overwrite<" +
               CppType(tensor(id).dtype) + "[]>(" + std::to_string(elements) + ");");
  }
  for (const Pass& pass : group_.passes) {
    if (!pass.interchanged) continue;
    int64_t elements = 1;
    for (size_t i = 0; i < pass.kept; ++i) elements *= pass.loops[i].extent;
    const Statement& s = pass.statements[0];
    code_.Line("const auto " + name(s.tensor) + "_acc = std::make_unique_for_overwrite<" +
               CppType(AccumulatorType(pass, s)) + "[]>(" + std::to_string(elements) + ");");
  }
}

void GroupEmitter::EmitOuter() {
  std::vector<std::string> heads;
  for (size_t k = 0; k < group_.outer.size(); ++k) {
    if (static_cast<int>(k) == group_.lane) continue;
    const std::string var = VarName(group_.outer[k].var);
    heads.push_back("for (int64_t " + var + " = 0; " + var + " < " +
                    std::to_string(group_.outer[k].extent) + "; ++" + var + ")");
  }
  const int64_t columns = lanes() ? group_.outer[static_cast<size_t>(group_.lane)].extent : 0;
  const bool tiled = lanes() && group_.lane_tile < columns;
  if (lanes()) code_.Line("constexpr int64_t kColumns = " + std::to_string(columns) + ";");
  if (lanes()) code_.Line("constexpr int64_t kTile = " + std::to_string(group_.lane_tile) + ";");
  if (tiled) heads.push_back("for (int64_t col0 = 0; col0 < kColumns; col0 += kTile)");
  const bool interchanged = std::any_of(group_.passes.begin(), group_.passes.end(),
                                        [](const Pass& pass) { return pass.interchanged; });
  const bool buffers = !group_.rows.empty() || interchanged;
  std::string share;
  if (heads.size() > 1) share = " collapse(" + std::to_string(heads.size()) + ")";
  const bool region = group_.parallel && buffers;
  if (region) {
    code_.Line("#pragma omp parallel num_threads(threads)");
    code_.Open("");
    EmitRowBuffers();
    code_.Line("#pragma omp for schedule(static)" + share);
  } else {
    EmitRowBuffers();
    if (group_.parallel && !heads.empty())
      code_.Line("#pragma omp parallel for num_threads(threads) schedule(static)" + share);
  }
  for (const std::string& head : heads) code_.Open(head);
  if (lanes()) {
    if (tiled) {
      code_.Line(columns % group_.lane_tile == 0
                     ? "const int64_t col_end = col0 + kTile;"
                     : "const int64_t col_end = std::min(col0 + kTile, kColumns);");
    } else {
      code_.Line("constexpr int64_t col0 = 0, col_end = kColumns;");
    }
  }
  for (size_t p = 0; p < group_.passes.size(); ++p) EmitPass(p);
  for (size_t i = 0; i < heads.size(); ++i) code_.Close();
  if (region) code_.Close();
  if (!group_.parallel) code_.Line("(void)threads;");
}

}  // namespace kerf::synth
