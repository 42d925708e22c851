// A program of the grid makes a block of the outer loops' elements, one for each of its rows; each
// pass walks along its loops a block of columns at a time. Sums are kept for every column of the
// block and joined at the end. Products have blocks of rows and columns instead, and tl.dot.
#include "synth/emit_triton_group.h"

#include <algorithm>

#include "synth/contraction_text.h"
#include "synth/emit_triton_writer.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int64_t kElements = 4096;          // of a block
constexpr int64_t kColumns = 32;             // outer elements in a block that reads along them
constexpr int64_t kTritonTile = 64;          // rows and columns of a product's block
constexpr int64_t kTritonDepth = 32;         // of a product, at a time
constexpr int64_t kTritonLongSum = 1 << 15;  // terms from which on sums are kept in float64

int64_t PowerOfTwo(int64_t at_least) {
  int64_t power = 1;
  while (power < at_least) power *= 2;
  return power;
}

// Blocks of zeros that no address needed.
std::string WithoutUnused(const std::string& text, const std::string& word) {
  if (text.find(" + " + word) != std::string::npos) return text;
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    if (line.find(" " + word + " = ") == std::string::npos) kept += line;
    at = end;
  }
  return kept;
}

class Emitter {
 public:
  Emitter(const Plan& plan, int group, const std::vector<std::string>& names,
          std::set<std::string>& helpers)
      : plan_(plan),
        group_(plan.groups[static_cast<size_t>(group)]),
        index_(group),
        names_(names),
        helpers_(helpers),
        writer_(plan.program, names, helpers, code_,
                [this](const Expr& load) { return Known(load); }) {}

  TritonKernel Run(const std::string& function) {
    TritonKernel made;
    made.name = function + "_kernel";
    made.refused = Refusal(made.refused_at);
    if (!made.refused.empty()) return made;
    CollectArguments();
    if (LoopTurns(group_.outer) == 0) return made;
    std::string parameters;
    for (const int id : arguments_) parameters += (parameters.empty() ? "" : ", ") + name(id);
    code_.Line("@triton.jit");
    code_.Open("def " + made.name + "(" + parameters + "):");
    Describe();
    made.grid = IsProduct() ? WriteProduct() : WriteBlocks();
    made.refused = writer_.refused;
    made.refused_at = refused_at_;
    made.arguments = arguments_;
    made.text = WithoutUnused(WithoutUnused(code_.text(), "zero0"), "zero1");
    return made;
  }

 private:
  [[nodiscard]] const Tensor& tensor(int id) const {
    return plan_.program.tensors[static_cast<size_t>(id)];
  }
  [[nodiscard]] const Storage& storage(int id) const {
    return plan_.storage[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::string& name(int id) const { return names_[static_cast<size_t>(id)]; }
  [[nodiscard]] bool Reduces(const Statement& s) const {
    return tensor(s.tensor).kind == TensorKind::kReduce;
  }

  std::string Refusal(int& at) const {
    at = group_.special;
    if (group_.special >= 0) return "an algorithm that is no loop over elements";
    for (const Pass& pass : group_.passes) {
      for (const Statement& s : pass.statements) {
        const Tensor& t = tensor(s.tensor);
        at = s.tensor;
        if (t.kind == TensorKind::kScan) return "a running sum";
        if (t.convolution.input >= 0) return "a convolution";
        if (Reduces(s) && t.combine == Combine::kLogSumExp) return "a running sum";
        if (Reduces(s) && pass.kept > 0) return "a reduction that gives a row";
        if (storage(s.tensor).place == Place::kRow) return "a row that is kept";
      }
    }
    return "";
  }

  void CollectArguments() {
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

  void Describe() {
    std::string what;
    std::set<std::string> said;
    for (const Pass& pass : group_.passes) {
      for (const Statement& s : pass.statements) {
        const Tensor& t = tensor(s.tensor);
        const std::string& word = t.what.empty() ? t.op : t.what;
        if (said.insert(word).second) what += (what.empty() ? "" : ", ") + word;
      }
    }
    code_.Line("# " + what.substr(0, 110));
    const Tensor& last = tensor(group_.passes.back().statements.back().tensor);
    if (last.line > 0) code_.Line("# line " + Number(last.line) + ": " + last.text.substr(0, 90));
  }

  std::string Known(const Expr& load) const {
    const int id = load.tensor;
    if (values_.count(id) > 0) return name(id) + "_value";
    return "";
  }

  // Gives each loop its share of one number.
  void Decode(const std::vector<Loop>& loops, const std::string& whole, const std::string& prefix,
              int axis) {
    int64_t below = LoopTurns(loops);
    for (size_t i = 0; i < loops.size(); ++i) {
      below /= std::max<int64_t>(loops[i].extent, 1);
      std::string text = whole;
      if (below > 1) text += " // " + Number(below);
      if (i > 0) text = (below > 1 ? "(" + text + ")" : text) + " % " + Number(loops[i].extent);
      if (loops.size() == 1) {
        writer_.vars[loops[i].var] = {whole, axis};
        continue;
      }
      const std::string own = prefix + Number(static_cast<int64_t>(i));
      code_.Line(own + " = " + text);
      writer_.vars[loops[i].var] = {own, axis};
    }
  }

  // ---- elements and rows ----

  std::vector<int64_t> WriteBlocks() {
    int64_t longest = 0;
    rows_only_ = true;
    for (const Pass& pass : group_.passes) {
      if (pass.loops.empty()) continue;
      rows_only_ = false;
      longest = std::max(longest, LoopTurns(pass.loops));
    }
    const int64_t outer = LoopTurns(group_.outer);
    // Along the outer elements where they are neighbours in memory, else along the row.
    const int64_t across = group_.lane >= 0 ? kColumns : 1;
    width_ = rows_only_ ? 1 : std::min(PowerOfTwo(longest), kElements / across);
    const int64_t block = std::min(PowerOfTwo(outer), std::max<int64_t>(1, kElements / width_));
    const std::string row =
        "tl.program_id(0) * " + Number(block) + " + tl.arange(0, " + Number(block) + ")";
    code_.Line("row = " + (rows_only_ ? row : "(" + row + ")[:, None]"));
    Decode(group_.outer, "row", "i", 0);
    writer_.bound[0] = outer % block == 0 ? "" : "(row < " + Number(outer) + ")";
    block_ = block;
    if (!rows_only_) code_.Line("zero0 = tl.zeros([" + Number(block) + ", 1], tl.int32)");
    code_.Line(rows_only_ ? "zero0 = tl.zeros([" + Number(block) + "], tl.int32)"
                          : "zero1 = tl.zeros([1, " + Number(width_) + "], tl.int32)");
    for (size_t p = 0; p < group_.passes.size(); ++p) {
      if (ReadsBack(p)) code_.Line("tl.debug_barrier()");
      WritePass(group_.passes[p]);
    }
    return {(outer + block - 1) / block};
  }

  // Whether a pass reads what an earlier one of this kernel stored.
  bool ReadsBack(size_t p) const {
    bool back = false;
    for (const Statement& s : group_.passes[p].statements) {
      VisitLoads(s.value, [&](const Expr& load) {
        const Storage& from = storage(load.tensor);
        back = back || (from.group == index_ && from.pass < static_cast<int>(p) &&
                        from.place == Place::kGlobal && !from.also_scalar);
      });
    }
    return back;
  }

  void WritePass(const Pass& pass) {
    const int64_t turns = LoopTurns(pass.loops);
    if (pass.loops.empty()) return WriteStatements(pass);
    for (const Statement& s : pass.statements) {
      if (Reduces(s)) DeclareSum(s);
    }
    if (turns > 0) WriteTurns(pass, turns);
    for (const Statement& s : pass.statements) {
      // What this pass had in registers is gone.
      if (!Reduces(s)) values_.erase(s.tensor);
    }
    for (const Statement& s : pass.statements) {
      if (Reduces(s)) FinishSum(s);
    }
  }

  void WriteTurns(const Pass& pass, int64_t turns) {
    const bool chunked = turns > width_;
    if (chunked)
      code_.Open("for start in range(0, " + Number(turns) + ", " + Number(width_) + "):");
    code_.Line("col = " + std::string(chunked ? "(start + " : "") + Block(width_) +
               (chunked ? ")" : "") + "[None, :]");
    Decode(pass.loops, "col", "j", 1);
    writer_.bound[1] = turns % width_ == 0 ? "" : "(col < " + Number(turns) + ")";
    WriteStatements(pass);
    if (chunked) code_.Close();
    writer_.bound[1] = "";
  }

  void WriteStatements(const Pass& pass) {
    std::vector<ExprPtr> all;
    for (const Statement& s : pass.statements) all.push_back(s.value);
    writer_.Begin(all);
    for (const Statement& s : pass.statements) {
      if (writer_.refused.empty()) refused_at_ = s.tensor;
      if (Reduces(s) && !pass.loops.empty()) {
        AddTerm(s);
        continue;
      }
      if (Reduces(s)) {  // of one term
        const Tensor& t = tensor(s.tensor);
        if (IsArg(t.combine)) {
          Keep(s, "tl.zeros([" + Number(block_) + (rows_only_ ? "]" : ", 1]") + ", tl.int64)");
          continue;
        }
      }
      Keep(s, Unwrapped(writer_.Text(s.value)));
    }
  }

  // A value that is ready: named, and stored where somebody else reads it.
  void Keep(const Statement& s, const std::string& text) {
    const Storage& at = storage(s.tensor);
    const Tensor& t = tensor(s.tensor);
    std::string value = text;
    if (at.place != Place::kGlobal || at.also_scalar || ReadInPass(s)) {
      code_.Line(name(s.tensor) + "_value = " + value);
      value = name(s.tensor) + "_value";
      values_.insert(s.tensor);
    }
    if (at.place != Place::kGlobal) return;
    if (t.dtype == DType::kBool) value = "(" + value + ").to(tl.int8)";
    std::string address = writer_.Address(s.tensor, s.at);
    std::set<int> axes;
    std::vector<int> mentioned;
    for (const Index& index : s.at) index.CollectVars(mentioned);
    for (const int var : mentioned) axes.insert(writer_.vars.at(var).axis);
    if (axes.count(0) == 0) address += " + zero0";
    if (in_columns_ && axes.count(1) == 0) address += " + zero1";
    std::string mask;
    for (const std::string& bound : writer_.bound) {
      if (!bound.empty()) mask += (mask.empty() ? "" : " & ") + bound;
    }
    code_.Line("tl.store(" + address + ", " + value + (mask.empty() ? "" : ", mask=" + mask) + ")");
  }

  bool ReadInPass(const Statement& s) const {
    const Storage& at = storage(s.tensor);
    bool read = false;
    for (const Statement& other : group_.passes[static_cast<size_t>(at.pass)].statements)
      VisitLoads(other.value, [&](const Expr& load) { read = read || load.tensor == s.tensor; });
    return read;
  }

  // ---- reductions ----

  DType SumType(const Statement& s) const {
    const Tensor& t = tensor(s.tensor);
    const bool long_sum = t.wide || t.terms() > kTritonLongSum;
    const bool adds = t.combine == Combine::kSum || t.combine == Combine::kProd;
    if (adds && long_sum && s.value->type == DType::kFloat32) return DType::kFloat64;
    if (t.combine == Combine::kAny || t.combine == Combine::kAll) return DType::kInt32;
    return s.value->type;
  }

  std::string IdentityText(const Statement& s) const {
    const Combine combine = tensor(s.tensor).combine;
    if (combine == Combine::kAny) return "0";
    if (combine == Combine::kAll) return "1";
    const Combine plain = combine == Combine::kArgMax   ? Combine::kMax
                          : combine == Combine::kArgMin ? Combine::kMin
                                                        : combine;
    const ExprPtr first = Identity(plain, s.value->type);
    if (IsFloat(first->type)) return TritonNumber(DType::kFloat32, first->number, 0);
    return TritonNumber(first->type, 0, first->integer);
  }

  void DeclareSum(const Statement& s) {
    const std::string block = "[" + Number(block_) + ", " + Number(width_) + "], ";
    code_.Line(name(s.tensor) + "_acc = tl.full(" + block + IdentityText(s) + ", " +
               TritonType(SumType(s)) + ")");
    if (IsArg(tensor(s.tensor).combine))
      code_.Line(name(s.tensor) + "_place = tl.full(" + block + "9223372036854775807, tl.int64)");
  }

  void AddTerm(const Statement& s) {
    const std::string acc = name(s.tensor) + "_acc";
    const Combine combine = tensor(s.tensor).combine;
    const bool is_float = IsFloat(s.value->type);
    std::string inside;
    for (const Guard& guard : s.guards) {
      const std::string at = writer_.Text(guard.index);
      inside += (inside.empty() ? "" : " & ") + ("((" + at + " >= " + Number(guard.low) + ") & (" +
                                                 at + " < " + Number(guard.high) + "))");
    }
    const ExprPtr value = Guarded(s);
    std::string term = writer_.Text(value);
    if (combine == Combine::kAny || combine == Combine::kAll) term += ".to(tl.int32)";
    for (const std::string& bound : writer_.bound) {
      if (!bound.empty()) inside += (inside.empty() ? "" : " & ") + bound;
    }
    if (!inside.empty())
      term = "tl.where(" + inside + ", " + Unwrapped(term) + ", " + IdentityText(s) + ")";
    if (IsArg(combine)) return AddPlace(s, term, inside);
    switch (combine) {
      case Combine::kSum:
        return code_.Line(acc + " += " + Unwrapped(term));
      case Combine::kProd:
        return code_.Line(acc + " *= " + Unwrapped(term));
      default: {
        const bool most = combine == Combine::kMax || combine == Combine::kAny;
        std::string join = most ? "tl.maximum" : "tl.minimum";
        if (is_float) {
          join = most ? "max_nan" : "min_nan";
          helpers_.insert(join);
        }
        code_.Line(acc + " = " + join + "(" + acc + ", " + Unwrapped(term) + ")");
      }
    }
  }

  // Terms outside the guards are not read either.
  static ExprPtr Guarded(const Statement& s) {
    if (s.guards.empty()) return s.value;
    ExprPtr inside = Integer(DType::kBool, 1);
    for (const Guard& guard : s.guards)
      inside = Both(inside, InRange(guard.index, guard.low, guard.high));
    return Select(inside, s.value, Integer(s.value->type, 0));
  }

  void AddPlace(const Statement& s, const std::string& term, const std::string& inside) {
    const std::string acc = name(s.tensor) + "_acc";
    const std::string place = name(s.tensor) + "_place";
    const bool most = tensor(s.tensor).combine == Combine::kArgMax;
    code_.Line("term = " + Unwrapped(term));
    std::string better = std::string("(term ") + (most ? ">" : "<") + " " + acc + ")";
    if (IsFloat(s.value->type)) better += " | ((term != term) & (" + acc + " == " + acc + "))";
    better = "(" + better + " | ((term == " + acc + ") & (" + place + " == 9223372036854775807)))";
    if (!inside.empty()) better += " & " + inside;
    code_.Line("better = " + better);
    code_.Line(acc + " = tl.where(better, term, " + acc + ")");
    code_.Line(place + " = tl.where(better, col.to(tl.int64), " + place + ")");
  }

  void FinishSum(const Statement& s) {
    const std::string acc = name(s.tensor) + "_acc";
    const Combine combine = tensor(s.tensor).combine;
    const std::string type = TritonType(RegisterType(tensor(s.tensor).dtype));
    const auto row = [&](const std::string& text) { return text + "[:, None]"; };
    std::string value;
    if (IsArg(combine)) {
      value = FinishPlace(s);
    } else if (combine == Combine::kSum) {
      value = row("tl.sum(" + acc + ", axis=1)") + ".to(" + type + ")";
    } else if (combine == Combine::kProd) {
      helpers_.insert("times");
      value = row("tl.reduce(" + acc + ", 1, times)") + ".to(" + type + ")";
    } else if (combine == Combine::kAny) {
      value = "(" + row("tl.max(" + acc + ", axis=1)") + " != 0)";
    } else if (combine == Combine::kAll) {
      value = "(" + row("tl.min(" + acc + ", axis=1)") + " != 0)";
    } else {
      value = row(ExtremeText(acc, combine == Combine::kMax, s)) + ".to(" + type + ")";
    }
    Keep(s, value);
  }

  std::string ExtremeText(const std::string& acc, bool most, const Statement& s) {
    if (!IsFloat(s.value->type))
      return std::string(most ? "tl.max(" : "tl.min(") + acc + ", axis=1)";
    const std::string helper = most ? "row_max" : "row_min";
    helpers_.insert(helper);
    return helper + "(" + acc + ")";
  }

  // The first place among those that have the extreme.
  std::string FinishPlace(const Statement& s) {
    const std::string acc = name(s.tensor) + "_acc";
    const bool most = tensor(s.tensor).combine == Combine::kArgMax;
    code_.Line("best = " + ExtremeText(acc, most, s) + "[:, None]");
    const std::string match = IsFloat(s.value->type)
                                  ? "(" + acc + " == best) | (" + acc + " != " + acc + ")"
                                  : acc + " == best";
    return "tl.min(tl.where(" + match + ", " + name(s.tensor) +
           "_place, 9223372036854775807), axis=1)[:, None]";
  }

  // ---- products ----

  bool IsProduct() const {
    const Pass& first = group_.passes[0];
    const Tensor& made = tensor(first.statements[0].tensor);
    if (!made.contraction || first.statements.size() != 1 || first.loops.size() != 1 ||
        made.rank() < 2 || made.reduced.size() != 1 || !first.statements[0].guards.empty())
      return false;
    const ExprPtr& value = first.statements[0].value;
    if (made.reduced[0] == 0) return false;
    if (value->op != Op::kMul || value->type != DType::kFloat32) return false;
    return std::all_of(group_.passes.begin() + 1, group_.passes.end(),
                       [](const Pass& pass) { return pass.loops.empty(); });
  }

  // Loop variables from the indices of the element: batch, row, column.
  void NameSite(const std::vector<int64_t>& shape) {
    const Statement& sum = group_.passes[0].statements[0];
    int64_t below = 1;
    for (size_t d = 0; d + 2 < shape.size(); ++d) below *= shape[d];
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool batch = d + 2 < shape.size();
      if (batch) below /= shape[d];
      std::string whole = d + 1 == shape.size() ? "j" : d + 2 == shape.size() ? "i" : "batch";
      if (batch && below > 1) whole = "(" + whole + " // " + Number(below) + ")";
      if (batch && d > 0) whole = "(" + whole + " % " + Number(shape[d]) + ")";
      const int axis = batch ? -1 : d + 2 == shape.size() ? 0 : 1;
      for (const IndexTerm& term : sum.at[d].terms()) {
        std::string text = whole;
        if (term.factor != 1) text = "(" + text + " // " + Number(term.factor) + ")";
        if (term.factor * term.atom->extent != shape[d])
          text = "(" + text + " % " + Number(term.atom->extent) + ")";
        writer_.vars[term.atom->var] = {text, axis};
      }
    }
  }

  static std::string Block(int64_t size) { return "tl.arange(0, " + Number(size) + ")"; }

  // A factor's block: halves as they are, which tensor cores like.
  std::string Factor(const ExprPtr& value, bool halves, const std::string& inside,
                     const std::string& block) {
    writer_.Begin({value});
    std::string text;
    if (value->op == Op::kLoad) {
      text = halves ? writer_.Raw(*value) : writer_.Text(value);
    } else {
      text = Unwrapped(writer_.Text(value));
      if (!inside.empty()) text = "tl.where(" + inside + ", " + text + ", 0.0)";
    }
    std::vector<int> mentioned;
    CollectExprVars(value, mentioned);
    std::set<int> axes;
    for (const int var : mentioned) axes.insert(writer_.vars.at(var).axis);
    const bool whole = axes.count(0) > 0 && axes.count(1) > 0;
    return whole ? text : "tl.broadcast_to(" + text + ", " + block + ")";
  }

  std::vector<int64_t> WriteProduct() {
    const Statement& sum = group_.passes[0].statements[0];
    const Tensor& made = tensor(sum.tensor);
    const std::vector<int64_t>& shape = made.shape;
    const int64_t m = shape[shape.size() - 2];
    const int64_t n = shape[shape.size() - 1];
    const int64_t k = made.reduced[0];
    const int64_t rows = std::clamp<int64_t>(PowerOfTwo(m), 16, kTritonTile);
    const int64_t cols = std::clamp<int64_t>(PowerOfTwo(n), 16, kTritonTile);
    const int64_t deep = std::clamp<int64_t>(PowerOfTwo(k), 16, kTritonDepth);
    const int64_t across = (n + cols - 1) / cols;
    code_.Line("tile = tl.program_id(0)");
    code_.Line("batch = tl.program_id(1)");
    code_.Line("i = (tile // " + Number(across) + " * " + Number(rows) + " + " + Block(rows) +
               ")[:, None]");
    code_.Line("j = (tile % " + Number(across) + " * " + Number(cols) + " + " + Block(cols) +
               ")[None, :]");
    NameSite(shape);
    const auto bound = [](const std::string& text, int64_t size, int64_t block) {
      return size % block == 0 ? std::string() : "(" + text + " < " + Number(size) + ")";
    };
    code_.Line("sums = tl.zeros([" + Number(rows) + ", " + Number(cols) + "], tl.float32)");
    code_.Open("for first in range(0, " + Number(k) + ", " + Number(deep) + "):");
    const int depth = group_.passes[0].loops[0].var;
    const ExprPtr& a = sum.value->args[0];
    const ExprPtr& b = sum.value->args[1];
    const bool halves = Halves(a, b);
    code_.Line("k = (first + " + Block(deep) + ")[None, :]");
    WriteZeros(rows, deep);
    writer_.vars[depth] = {"k", 1};
    writer_.bound[0] = bound("i", m, rows);
    writer_.bound[1] = bound("k", k, deep);
    code_.Line("a = " +
               Factor(a, halves, writer_.bound[1], "[" + Number(rows) + ", " + Number(deep) + "]"));
    code_.Line("k = (first + " + Block(deep) + ")[:, None]");
    WriteZeros(deep, cols);
    writer_.vars[depth] = {"k", 0};
    writer_.bound[0] = bound("k", k, deep);
    writer_.bound[1] = bound("j", n, cols);
    code_.Line("b = " +
               Factor(b, halves, writer_.bound[0], "[" + Number(deep) + ", " + Number(cols) + "]"));
    code_.Line("sums = tl.dot(a, b, sums, input_precision=\"ieee\")");
    code_.Close();
    WriteZeros(rows, cols);
    writer_.bound[0] = bound("i", m, rows);
    in_columns_ = true;
    writer_.Begin({});
    Keep(sum, "sums");
    for (size_t p = 1; p < group_.passes.size(); ++p) WriteStatements(group_.passes[p]);
    int64_t batches = 1;
    for (size_t d = 0; d + 2 < shape.size(); ++d) batches *= shape[d];
    return {across * ((m + rows - 1) / rows), batches};
  }

  void WriteZeros(int64_t rows, int64_t cols) {
    code_.Line("zero0 = tl.zeros([" + Number(rows) + ", 1], tl.int32)");
    code_.Line("zero1 = tl.zeros([1, " + Number(cols) + "], tl.int32)");
  }

  bool Halves(const ExprPtr& a, const ExprPtr& b) const {
    if (a->op != Op::kLoad || b->op != Op::kLoad) return false;
    const DType type = tensor(a->tensor).dtype;
    return type == tensor(b->tensor).dtype && (type == DType::kFloat16 || type == DType::kBFloat16);
  }

  const Plan& plan_;
  const Group& group_;
  int index_;
  const std::vector<std::string>& names_;
  std::set<std::string>& helpers_;
  PythonText code_;
  TritonWriter writer_;
  std::vector<int> arguments_;
  std::set<int> values_;  // tensors of which this turn has the value
  int refused_at_ = 0;
  bool rows_only_ = false;
  bool in_columns_ = false;
  int64_t block_ = 1;
  int64_t width_ = 1;
};

}  // namespace

TritonKernel EmitTritonGroup(const Plan& plan, int group, const std::vector<std::string>& names,
                             const std::string& function, std::set<std::string>& helpers) {
  return Emitter(plan, group, names, helpers).Run(function);
}

}  // namespace kerf::synth
