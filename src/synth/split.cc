// A sum over everything gives the threads nothing to share: it is cut into a fixed number of
// partial sums, whatever the number of threads, so that results do not depend on it.
#include <algorithm>

#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int64_t kWorthSplitting = 1 << 16;
constexpr int64_t kPieces = 64;

// Of a product of matrices on a GPU: tiles of its result, and how many leave most of it idle.
constexpr int64_t kFewTiles = 64;
int64_t TilesOf(const Tensor& t) { return (t.numel() + 4095) / 4096; }

bool ShouldSplit(const Tensor& t, const PlanOptions& options) {
  if (t.kind != TensorKind::kReduce || IsArg(t.combine)) return false;
  if (t.contraction && options.blocks > 0)
    return t.convolution.input < 0 && t.numel() >= 1 && TilesOf(t) <= kFewTiles &&
           t.reduced.size() == 1 && t.terms() >= kWorthSplitting / 8;
  if (t.contraction) return false;
  if (options.blocks > 0)
    return t.numel() >= 1 && t.numel() <= options.blocks / 8 && t.terms() >= kWorthSplitting / 4;
  return t.numel() >= 1 && t.numel() < 2 * options.threads &&
         t.numel() * t.terms() >= kWorthSplitting;
}

// The outermost reduced axis that is long enough, else the longest.
size_t AxisToCut(const Tensor& t, int64_t most) {
  for (size_t i = 0; i < t.reduced.size(); ++i) {
    if (t.reduced[i] >= most / 4) return i;
  }
  return static_cast<size_t>(std::max_element(t.reduced.begin(), t.reduced.end()) -
                             t.reduced.begin());
}

int64_t PieceCount(int64_t extent, int64_t most) {
  for (int64_t pieces = std::min(most, extent); pieces >= most / 8 && pieces > 0; --pieces) {
    if (extent % pieces == 0) return pieces;
  }
  return std::min(most, extent);
}

// Renumbers tensors from `at` on, because one was put before it.
ExprPtr Shifted(const ExprPtr& body, int at) {
  Rewriter rewriter([](int var, int64_t extent) { return Index::Var(var, extent); },
                    [&](const ExprPtr& load) {
                      if (load->tensor < at) return load;
                      Expr moved = *load;
                      return Load(moved.tensor + 1, moved.type, moved.indices);
                    });
  return rewriter.Run(body);
}

void InsertTensor(Program& program, int at, Tensor tensor) {
  const auto shift = [&](int& id) { id += id >= at ? 1 : 0; };
  for (Tensor& t : program.tensors) {
    if (t.body != nullptr) t.body = Shifted(t.body, at);
    shift(t.convolution.input);
    shift(t.convolution.weight);
    for (int& id : t.special.operands) shift(id);
    for (int& id : t.special.results) shift(id);
  }
  for (int& id : program.inputs) shift(id);
  for (int& id : program.outputs) shift(id);
  program.tensors.insert(program.tensors.begin() + at, std::move(tensor));
}

void SplitTensor(Program& program, int id, const PlanOptions& options) {
  Tensor whole = program.tensors[static_cast<size_t>(id)];
  int64_t most =
      options.blocks == 0
          ? kPieces
          : std::max<int64_t>(2, std::min(options.blocks / whole.numel(), whole.terms() / 4096));
  if (whole.contraction)
    most = std::max<int64_t>(2, std::min(4 * kFewTiles / TilesOf(whole), whole.terms() / 1024));
  const size_t axis = AxisToCut(whole, most);
  const int64_t extent = whole.reduced[axis];
  const int64_t pieces = PieceCount(extent, most);
  const int64_t length = (extent + pieces - 1) / pieces;
  const int rank = whole.rank();
  Tensor part = whole;
  part.name = whole.name.empty() ? "" : whole.name + "_parts";
  part.what = whole.what + " of one piece of " + std::to_string(pieces);
  part.shape.push_back(pieces);
  part.reduced[axis] = length;
  const bool widen =
      whole.combine == Combine::kSum && whole.body->type == DType::kFloat32 && !whole.contraction;
  part.dtype = widen ? DType::kFloat64 : RegisterType(whole.body->type);
  const Index position =
      Index::Var(rank, pieces) * length + Index::Var(rank + 1 + static_cast<int>(axis), length);
  Rewriter rewriter(
      [&](int var, int64_t e) {
        if (var < rank) return Index::Var(var, e);
        if (var == rank + static_cast<int>(axis)) return position;
        return Index::Var(var + 1, e);
      },
      [](const ExprPtr& load) { return load; });
  part.body = rewriter.Run(whole.body);
  if (pieces * length != extent)
    part.body =
        Select(InRange(position, 0, extent), part.body, Identity(whole.combine, part.body->type));
  Tensor joined = whole;
  joined.reduced = {pieces};
  joined.contraction = false;
  std::vector<Index> at;
  for (int i = 0; i < rank; ++i) at.push_back(Index::Var(i, whole.shape[static_cast<size_t>(i)]));
  at.push_back(Index::Var(rank, pieces));
  joined.body = Load(id, part.dtype, at);
  InsertTensor(program, id, std::move(part));
  program.tensors[static_cast<size_t>(id) + 1] = std::move(joined);
}

}  // namespace

void SplitReductions(Program& program, const PlanOptions& options) {
  if (options.threads < 2) return;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    if (!ShouldSplit(program.tensors[i], options)) continue;
    SplitTensor(program, static_cast<int>(i), options);
    ++i;
  }
}

}  // namespace kerf::synth
