#include "synth/emit_cuda_product.h"

#include <algorithm>

#include "synth/contraction_text.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int64_t kFillingBlocks = 132;

constexpr CudaTile kTiles[] = {{128, 128, 16, 2, 2}, {64, 64, 16, 1, 1}, {32, 32, 16, 1, 1}};

}  // namespace

std::optional<CudaFunction> ProductEmitter::Run(const std::string& function) {
  if (!Understand()) return std::nullopt;
  CollectArguments();
  Describe();
  if (UnderstandHalves()) return RunHalves(function);
  ChooseTile();
  code_.Comment("Tiles of " + Number(tile_.rows) + " x " + Number(tile_.cols) + " results, " +
                Number(tile_.depth) + " terms at a time in shared memory; each thread has " +
                Number(4 * tile_.row_packs) + " x " + Number(4 * tile_.col_packs) +
                " sums in registers and reads the next terms while it adds these.");
  code_.Open("__global__ void __launch_bounds__(" + Number(tile_.threads()) + ") " + function +
             "(" + Parameters() + ")");
  EmitPlaces();
  EmitFactor("left", left_, rows_, "row", tile_.rows);
  EmitFactor("right", right_, cols_, "col", tile_.cols);
  EmitSums();
  EmitResults();
  code_.Close();
  return Made(function, tile_.rows, tile_.cols, tile_.threads());
}

CudaFunction ProductEmitter::Made(const std::string& function, int64_t rows, int64_t cols,
                                  int64_t threads) {
  CudaFunction made;
  made.name = function;
  made.text = code_.text();
  made.arguments = arguments_;
  std::string list;
  for (const int id : arguments_) list += (list.empty() ? "" : ", ") + name(id);
  const int64_t blocks =
      Up(LoopTurns(rows_), rows) * Up(LoopTurns(cols_), cols) * LoopTurns(batch_);
  made.launch = {function + "<<<" + Number(blocks) + ", " + Number(threads) + ", 0, stream>>>(" +
                 list + ");"};
  return made;
}

bool ProductEmitter::Understand() {
  const Pass& pass = group_.passes[0];
  const Statement& sum = pass.statements[0];
  const Tensor& made = tensor(sum.tensor);
  if (!made.contraction || pass.statements.size() != 1 || pass.kept != 0 || made.numel() == 0)
    return false;
  if (made.combine != Combine::kSum || pass.loops.empty()) return false;
  for (size_t p = 1; p < group_.passes.size(); ++p) {
    if (!group_.passes[p].loops.empty()) return false;
  }
  ExprPtr value = sum.value;
  std::vector<ExprPtr> conditions;
  while (value->op == Op::kSelect && IsConst(value->args[2], 0)) {
    conditions.push_back(value->args[0]);
    value = value->args[1];
  }
  if (value->op != Op::kMul) return false;
  type_ = value->type;
  left_.value = value->args[0];
  right_.value = value->args[1];
  left_.Use(left_.value);
  right_.Use(right_.value);
  return SortGuards(sum, conditions) && SortLoops(pass, sum);
}

bool ProductEmitter::Covers(const CudaFactor& factor, const std::vector<int>& vars) const {
  return std::all_of(vars.begin(), vars.end(), [&](int var) {
    return factor.vars.count(var) > 0 || reduced_vars_.count(var) > 0;
  });
}

bool ProductEmitter::SortGuards(const Statement& sum, const std::vector<ExprPtr>& conditions) {
  for (const Loop& loop : group_.passes[0].loops) reduced_vars_.insert(loop.var);
  for (const Guard& guard : sum.guards) {
    std::vector<int> vars;
    guard.index.CollectVars(vars);
    CudaFactor* owner = Covers(left_, vars) ? &left_ : Covers(right_, vars) ? &right_ : nullptr;
    if (owner == nullptr) return false;
    owner->guards.push_back(guard);
  }
  for (const ExprPtr& condition : conditions) {
    std::vector<int> vars;
    CollectExprVars(condition, vars);
    CudaFactor* owner = Covers(left_, vars) ? &left_ : Covers(right_, vars) ? &right_ : nullptr;
    if (owner == nullptr) return false;
    owner->conditions.push_back(condition);
  }
  return true;
}

bool ProductEmitter::SortLoops(const Pass& pass, const Statement& sum) {
  const Index place = PlaceOf(context_.plan, sum.tensor, sum.at);
  int64_t left_step = 0;
  int64_t right_step = 0;
  for (const Loop& loop : group_.outer) {
    const bool left = left_.vars.count(loop.var) > 0;
    const bool right = right_.vars.count(loop.var) > 0;
    const int64_t step = place.Stride(loop.var).value_or(0);
    if (left == right) {
      batch_.push_back(loop);
    } else if (left) {
      rows_.push_back(loop);
      left_step = left_step == 0 ? step : std::min(left_step, step);
    } else {
      cols_.push_back(loop);
      right_step = right_step == 0 ? step : std::min(right_step, step);
    }
  }
  depth_ = pass.loops;
  // Results that lie side by side are columns.
  if (left_step != 0 && left_step < right_step) {
    std::swap(left_, right_);
    std::swap(rows_, cols_);
  }
  return LoopTurns(rows_) >= 8 && LoopTurns(cols_) >= 8 && LoopTurns(depth_) >= 8;
}

void ProductEmitter::ChooseTile() {
  for (const CudaTile& tile : kTiles) {
    tile_ = tile;
    const int64_t blocks =
        Up(LoopTurns(rows_), tile.rows) * Up(LoopTurns(cols_), tile.cols) * LoopTurns(batch_);
    const bool wasteful = tile.rows >= 2 * LoopTurns(rows_) || tile.cols >= 2 * LoopTurns(cols_);
    if (blocks >= kFillingBlocks && !wasteful) return;
  }
}

void ProductEmitter::Decode(const std::string& from, const std::vector<Loop>& loops,
                            const std::string& letter) {
  if (loops.size() == 1) {
    vars_[loops[0].var] = from;
    return;
  }
  int64_t below = LoopTurns(loops);
  for (size_t n = 0; n < loops.size(); ++n) {
    below /= loops[n].extent;
    std::string text = from;
    if (below > 1) text += " / " + Number(below);
    if (n > 0) text = (below > 1 ? "(" + text + ")" : text) + " % " + Number(loops[n].extent);
    vars_[loops[n].var] = letter + Number(static_cast<int64_t>(n));
    code_.Line("const " + int_ + " " + vars_[loops[n].var] + " = " + text + ";");
  }
}

// Which tile of the result a block has.
void ProductEmitter::EmitBlock(int64_t rows, int64_t cols) {
  const int64_t across = Up(LoopTurns(cols_), cols);
  const int64_t down = Up(LoopTurns(rows_), rows);
  code_.Line("const " + int_ + " col0 = (" + int_ + ")(blockIdx.x % " + Number(across) +
             ") * kCols;");
  code_.Line("const " + int_ + " row0 = (" + int_ + ")(blockIdx.x / " + Number(across) + " % " +
             Number(down) + ") * kRows;");
  if (!batch_.empty())
    code_.Line("const " + int_ + " batch = blockIdx.x / " + Number(across * down) + ";");
  Decode("batch", batch_, "b");
}

void ProductEmitter::EmitPlaces() {
  const std::string type = CppType(type_);
  context_.helpers.insert("Pack");
  code_.Line("constexpr int kRows = " + Number(tile_.rows) + ", kCols = " + Number(tile_.cols) +
             ", kDepth = " + Number(tile_.depth) + ", kThreads = " + Number(tile_.threads()) + ";");
  code_.Comment("One pack more than needed: neighbouring terms lie in different banks.");
  code_.Line("__shared__ Pack<" + type + ", 4> left[kDepth][kRows / 4 + 1];");
  code_.Line("__shared__ Pack<" + type + ", 4> right[kDepth][kCols / 4 + 1];");
  code_.Line("const int thread = threadIdx.x;");
  code_.Line("const int down = thread / " + Number(tile_.col_threads()) + ", across = thread % " +
             Number(tile_.col_threads()) + ";");
  EmitBlock(tile_.rows, tile_.cols);
}

bool ProductEmitter::AlongDepth(const CudaFactor& factor, const std::vector<Loop>& loops) const {
  bool along = false;
  VisitLoads(factor.value, [&](const Expr& load) {
    const Index place = PlaceOf(context_.plan, load.tensor, load.indices);
    const auto deep = place.Stride(depth_.back().var);
    const auto wide = loops.empty() ? std::optional<int64_t>(0) : place.Stride(loops.back().var);
    along = along || (deep.has_value() && *deep == 1 && !(wide.has_value() && *wide == 1));
  });
  return along;
}

void ProductEmitter::EmitTerm(const std::string& word, const CudaFactor& factor,
                              const std::vector<Loop>& loops, const std::string& line, int tile) {
  const std::string type = CppType(type_);
  const std::string zero = Literal(*Integer(type_, 0));
  const int64_t lines = LoopTurns(loops);
  const int64_t depth = LoopTurns(depth_);
  code_.Open("const auto " + word + "_at = [&](" + int_ + " " + line + ", " + int_ + " k) -> " +
             type);
  std::string outside;
  if (lines % tile != 0) outside = line + " >= " + Number(lines);
  if (depth % tile_.depth != 0)
    outside += (outside.empty() ? "" : " || ") + ("k >= " + Number(depth));
  if (!outside.empty()) code_.Line("if (" + outside + ") return " + zero + ";");
  Decode(line, loops, line.substr(0, 1));
  Decode("k", depth_, "k");
  writer_.Begin({});
  const std::string guard = GuardText(factor.guards);
  if (!guard.empty()) code_.Line("if (!(" + guard + ")) return " + zero + ";");
  for (const ExprPtr& condition : factor.conditions)
    code_.Line("if (!" + writer_.Text(condition) + ") return " + zero + ";");
  code_.Line("return " + Unwrapped(writer_.Text(factor.value)) + ";");
  code_.Close(";");
}

void ProductEmitter::EmitFactor(const std::string& word, const CudaFactor& factor,
                                const std::vector<Loop>& loops, const std::string& line, int tile) {
  EmitTerm(word, factor, loops, line, tile);
  const int64_t count = static_cast<int64_t>(tile) * tile_.depth / tile_.threads();
  const std::string size = line == "row" ? "kRows" : "kCols";
  code_.Line("constexpr int k" + std::string(word == "left" ? "Left" : "Right") + " = " + size +
             " * kDepth / kThreads;");
  code_.Line(std::string(CppType(type_)) + " " + word + "_next[" + Number(count) + "];");
  along_[word] = AlongDepth(factor, loops);
}

std::string ProductEmitter::LineOf(const std::string& word) {
  const std::string size = word == "left" ? "kRows" : "kCols";
  return along_[word] ? "(n * kThreads + thread) / kDepth" : "(n * kThreads + thread) % " + size;
}

std::string ProductEmitter::DepthOf(const std::string& word) {
  const std::string size = word == "left" ? "kRows" : "kCols";
  return along_[word] ? "(n * kThreads + thread) % kDepth" : "(n * kThreads + thread) / " + size;
}

void ProductEmitter::EmitSums() {
  const std::string type = CppType(type_);
  const std::string rows = Number(4 * tile_.row_packs);
  const std::string cols = Number(4 * tile_.col_packs);
  code_.Open("const auto read = [&](" + int_ + " k0)");
  for (const std::string word : {"left", "right"}) {
    code_.Line("#pragma unroll");
    code_.Line("for (int n = 0; n < " + std::string(word == "left" ? "kLeft" : "kRight") +
               "; ++n)");
    code_.Line("  " + word + "_next[n] = " + word + "_at(" + (word == "left" ? "row0" : "col0") +
               " + " + LineOf(word) + ", k0 + " + DepthOf(word) + ");");
  }
  code_.Close(";");
  code_.Line(type + " sum[" + rows + "][" + cols + "] = {};");
  code_.Line("read(0);");
  code_.Open("for (" + int_ + " k0 = 0; k0 < " + Number(LoopTurns(depth_)) + "; k0 += kDepth)");
  for (const std::string word : {"left", "right"}) {
    code_.Line("#pragma unroll");
    code_.Open("for (int n = 0; n < " + std::string(word == "left" ? "kLeft" : "kRight") +
               "; ++n)");
    code_.Line("const int line = " + LineOf(word) + ", deep = " + DepthOf(word) + ";");
    code_.Line(word + "[deep][line / 4].at[line % 4] = " + word + "_next[n];");
    code_.Close();
  }
  code_.Line("__syncthreads();");
  code_.Line("if (k0 + kDepth < " + Number(LoopTurns(depth_)) + ") read(k0 + kDepth);");
  code_.Line("#pragma unroll");
  code_.Open("for (int deep = 0; deep < kDepth; ++deep)");
  code_.Line("Pack<" + type + ", 4> a[" + Number(tile_.row_packs) + "], b[" +
             Number(tile_.col_packs) + "];");
  code_.Line("for (int i = 0; i < " + Number(tile_.row_packs) + "; ++i) a[i] = left[deep][i * " +
             Number(tile_.row_threads()) + " + down];");
  code_.Line("for (int j = 0; j < " + Number(tile_.col_packs) + "; ++j) b[j] = right[deep][j * " +
             Number(tile_.col_threads()) + " + across];");
  code_.Line("#pragma unroll");
  code_.Open("for (int i = 0; i < " + rows + "; ++i)");
  code_.Line("#pragma unroll");
  code_.Line("for (int j = 0; j < " + cols +
             "; ++j) sum[i][j] += a[i / 4].at[i % 4] * b[j / 4].at[j % 4];");
  code_.Close();
  code_.Close();
  code_.Line("__syncthreads();");
  code_.Close();
}

void ProductEmitter::EmitResults() {
  code_.Line("#pragma unroll");
  code_.Open("for (int i = 0; i < " + Number(4 * tile_.row_packs) + "; ++i)");
  code_.Line("const " + int_ + " row = row0 + (i / 4 * " + Number(tile_.row_threads()) +
             " + down) * 4 + i % 4;");
  if (LoopTurns(rows_) % tile_.rows != 0)
    code_.Line("if (row >= " + Number(LoopTurns(rows_)) + ") continue;");
  Decode("row", rows_, "r");
  code_.Line("#pragma unroll");
  code_.Open("for (int j = 0; j < " + Number(4 * tile_.col_packs) + "; ++j)");
  code_.Line("const " + int_ + " col = col0 + (j / 4 * " + Number(tile_.col_threads()) +
             " + across) * 4 + j % 4;");
  if (LoopTurns(cols_) % tile_.cols != 0)
    code_.Line("if (col >= " + Number(LoopTurns(cols_)) + ") continue;");
  Decode("col", cols_, "c");
  EmitEpilogue("sum[i][j]");
  code_.Close();
  code_.Close();
}

void ProductEmitter::EmitEpilogue(const std::string& sum_text) {
  const Statement& sum = group_.passes[0].statements[0];
  const std::string type = CppType(tensor(sum.tensor).dtype);
  std::string value = type == CppType(type_) ? sum_text : "(" + type + ")" + sum_text;
  writer_.Begin({});
  if (IsScalar(sum.tensor)) {
    code_.Line("const " + type + " " + ScalarName(sum.tensor) + " = " + value + ";");
    value = ScalarName(sum.tensor);
  }
  if (storage(sum.tensor).place == Place::kGlobal) code_.Line(StoreText(sum.tensor, sum.at, value));
  for (size_t p = 1; p < group_.passes.size(); ++p) EmitBody(group_.passes[p]);
}

std::optional<CudaFunction> EmitCudaProduct(const CudaContext& context, int group,
                                            const std::string& name) {
  return ProductEmitter(context, group).Run(name);
}

}  // namespace kerf::synth
