// Products of half matrices on tensor cores: mma.sync on fragments that ldmatrix reads from shared
// memory, filled by copies that run while the last tile is multiplied. Where there are no tensor
// cores (kerf's CPU emulation) the same kernel has a plain loop.
#include <algorithm>

#include "synth/contraction_text.h"
#include "synth/emit_cuda_product.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int kTensorTile = 128;  // rows and columns of a block's tile
constexpr int kTensorDepth = 32;  // terms of a step
constexpr int kThreads = 128;     // four warps, each with 64 x 64 results
constexpr int kPack = 8;          // halves in 16 bytes

}  // namespace

bool ProductEmitter::UnderstandHalf(const CudaFactor& factor, const std::vector<Loop>& loops,
                                    bool& along) {
  if (factor.value->op != Op::kLoad || !factor.guards.empty() || !factor.conditions.empty() ||
      loops.empty() || IsConstantInput(context_.plan, factor.value->tensor) ||
      storage(factor.value->tensor).place != Place::kGlobal)
    return false;
  const Index place = PlaceOf(context_.plan, factor.value->tensor, factor.value->indices);
  if (!place.IsAffine() || place.constant() % kPack != 0) return false;
  // Of the two innermost loops one runs along memory, in whole packs.
  const Loop& deep = depth_.back();
  const Loop& wide = loops.back();
  along = place.Stride(deep.var).value_or(0) == 1;
  const Loop& inner = along ? deep : wide;
  if (place.Stride(inner.var).value_or(0) != 1 || inner.extent % kPack != 0) return false;
  for (const IndexTerm& term : place.terms()) {
    if (term.atom->var != inner.var && term.factor % kPack != 0) return false;
  }
  return true;
}

bool ProductEmitter::UnderstandHalves() {
  if (type_ != DType::kFloat32 || left_.value->op != Op::kLoad || right_.value->op != Op::kLoad)
    return false;
  const DType stored = tensor(left_.value->tensor).dtype;
  if (stored != tensor(right_.value->tensor).dtype) return false;
  if (stored != DType::kFloat16 && stored != DType::kBFloat16) return false;
  return UnderstandHalf(left_, rows_, along_["left"]) &&
         UnderstandHalf(right_, cols_, along_["right"]);
}

CudaFunction ProductEmitter::RunHalves(const std::string& function) {
  const std::string half = CudaType(tensor(left_.value->tensor).dtype);
  context_.helpers.insert({"Pack", "tensor_cores"});
  code_.Comment(
      "Tensor cores: a block has a tile of 128 x 128 results, each of its four warps 64 x 64 of "
      "them, 32 terms at a time; the next ones are copied meanwhile.");
  code_.Open("__global__ void __launch_bounds__(" + Number(kThreads) + ") " + function + "(" +
             Parameters() + ")");
  code_.Line("constexpr int kRows = 128, kCols = 128, kTensorDepth = 32;");
  code_.Line("const int thread = threadIdx.x;");
  EmitBlock(kTensorTile, kTensorTile);
  EmitFinish();
  code_.Line("#if defined(__CUDA_ARCH__)");
  EmitSource("left", left_, rows_, "row");
  EmitSource("right", right_, cols_, "col");
  for (const std::string word : {"left", "right"}) {
    code_.Comment(along_[word]
                      ? "Along the depth, as it lies in memory; eight halves more keep rows in "
                        "different banks."
                      : "Across, as it lies in memory; eight halves more keep rows in different "
                        "banks.");
    code_.Line("__shared__ Pack<" + half + ", 8> " + word + "[2]" +
               (along_[word] ? "[128][kTensorDepth / 8 + 1];" : "[kTensorDepth][128 / 8 + 1];"));
  }
  EmitMma();
  code_.Line("#else");
  EmitTerm("left", left_, rows_, "row", kTensorTile);
  EmitTerm("right", right_, cols_, "col", kTensorTile);
  code_.Open("for (int n = thread; n < kRows * kCols; n += " + Number(kThreads) + ")");
  code_.Line("const " + int_ + " row = row0 + n / kCols, col = col0 + n % kCols;");
  code_.Line("float sum = 0.0f;");
  code_.Line("for (" + int_ + " k = 0; k < " + Number(LoopTurns(depth_)) +
             "; ++k) sum += left_at(row, k) * right_at(col, k);");
  code_.Line("finish(row, col, sum);");
  code_.Close();
  code_.Line("#endif");
  code_.Close();
  return Made(function, kTensorTile, kTensorTile, kThreads);
}

void ProductEmitter::EmitFinish() {
  code_.Open("const auto finish = [&](" + int_ + " row, " + int_ + " col, float total)");
  std::string outside;
  if (LoopTurns(rows_) % kTensorTile != 0) outside = "row >= " + Number(LoopTurns(rows_));
  if (LoopTurns(cols_) % kTensorTile != 0)
    outside += (outside.empty() ? "" : " || ") + ("col >= " + Number(LoopTurns(cols_)));
  if (!outside.empty()) code_.Line("if (" + outside + ") return;");
  Decode("row", rows_, "r");
  Decode("col", cols_, "c");
  EmitEpilogue("total");
  code_.Close(";");
}

// Copies eight neighbouring halves; zeros where the matrix has ended.
void ProductEmitter::EmitSource(const std::string& word, const CudaFactor& factor,
                                const std::vector<Loop>& loops, const std::string& line) {
  const int id = factor.value->tensor;
  code_.Open("const auto copy_" + word + " = [&](void* to, " + int_ + " " + line + ", " + int_ +
             " k)");
  const int64_t lines = LoopTurns(loops);
  const int64_t depth = LoopTurns(depth_);
  std::string inside;
  if (lines % kTensorTile != 0) inside = line + " < " + Number(lines);
  if (depth % kTensorDepth != 0)
    inside += (inside.empty() ? "" : " && ") + ("k < " + Number(depth));
  if (!inside.empty())
    code_.Line("if (!(" + inside + ")) return copy_pack(to, " + name(id) + ", false);");
  Decode(line, loops, line.substr(0, 1));
  Decode("k", depth_, "k");
  writer_.Begin({});
  code_.Line("copy_pack(to, " + name(id) + " + " +
             writer_.Text(PlaceOf(context_.plan, id, factor.value->indices)) + ", true);");
  code_.Close(";");
}

void ProductEmitter::EmitCopies(const std::string& word) {
  const std::string from = word == "left" ? "row0" : "col0";
  code_.Line("#pragma unroll");
  code_.Open("for (int n = thread; n < 128 * kTensorDepth / 8; n += " + Number(kThreads) + ")");
  if (along_[word]) {
    code_.Line("const int line = n / (kTensorDepth / 8), pack = n % (kTensorDepth / 8);");
    code_.Line("copy_" + word + "(&" + word + "[stage][line][pack], " + from +
               " + line, k0 + pack * 8);");
  } else {
    code_.Line("const int deep = n / 16, pack = n % 16;");
    code_.Line("copy_" + word + "(&" + word + "[stage][deep][pack], " + from +
               " + pack * 8, k0 + deep);");
  }
  code_.Close();
}

void ProductEmitter::EmitMma() {
  const bool bfloat = tensor(left_.value->tensor).dtype == DType::kBFloat16;
  const std::string depth = Number(LoopTurns(depth_));
  code_.Open("const auto copy = [&](int stage, " + int_ + " k0)");
  EmitCopies("left");
  EmitCopies("right");
  code_.Line("asm volatile(\"cp.async.commit_group;\");");
  code_.Close(";");
  code_.Line("const int warp = thread / 32, lane = thread % 32;");
  code_.Line("const int warp_row = warp / 2 * 64, warp_col = warp % 2 * 64;");
  code_.Line("float sum[4][8][4] = {};");
  code_.Line("copy(0, 0);");
  code_.Line("int stage = 0;");
  code_.Open("for (" + int_ + " k0 = 0; k0 < " + depth + "; k0 += kTensorDepth)");
  code_.Line("asm volatile(\"cp.async.wait_group 0;\");");
  code_.Line("__syncthreads();");
  code_.Line("if (k0 + kTensorDepth < " + depth + ") copy(1 - stage, k0 + kTensorDepth);");
  code_.Line("#pragma unroll");
  code_.Open("for (int deep = 0; deep < kTensorDepth; deep += 16)");
  code_.Line("unsigned a[4][4], b[4][4];");
  code_.Line("#pragma unroll");
  code_.Open("for (int i = 0; i < 4; ++i)");
  if (along_["left"]) {
    code_.Line(
        "load_matrices(a[i], &left[stage][warp_row + i * 16 + lane % 16][deep / 8 + lane / 16]);");
  } else {
    code_.Line(
        "load_transposed(a[i], &left[stage][deep + lane / 16 * 8 + lane % 8]"
        "[(warp_row + i * 16) / 8 + lane / 8 % 2]);");
  }
  code_.Close();
  code_.Line("#pragma unroll");
  code_.Open("for (int j = 0; j < 4; ++j)");
  if (along_["right"]) {
    code_.Line(
        "load_matrices(b[j], &right[stage][warp_col + j * 16 + lane / 16 * 8 + lane % 8]"
        "[deep / 8 + lane / 8 % 2]);");
  } else {
    code_.Line(
        "load_transposed(b[j], &right[stage][deep + lane % 16]"
        "[(warp_col + j * 16) / 8 + lane / 16]);");
  }
  code_.Close();
  code_.Line("#pragma unroll");
  code_.Open("for (int i = 0; i < 4; ++i)");
  code_.Line("#pragma unroll");
  code_.Line("for (int j = 0; j < 8; ++j) " +
             std::string(bfloat ? "multiply_bfloat" : "multiply_half") +
             "(sum[i][j], a[i], b[j / 2] + j % 2 * 2);");
  code_.Close();
  code_.Close();
  code_.Line("stage = 1 - stage;");
  code_.Close();
  code_.Line("#pragma unroll");
  code_.Open("for (int i = 0; i < 4; ++i)");
  code_.Line("#pragma unroll");
  code_.Open("for (int j = 0; j < 8; ++j)");
  code_.Line("#pragma unroll");
  code_.Line("for (int c = 0; c < 4; ++c)");
  code_.Line(
      "  finish(row0 + warp_row + i * 16 + lane / 4 + c / 2 * 8, col0 + warp_col + j * 8 + lane % "
      "4 * 2 + c % 2, "
      "sum[i][j][c]);");
  code_.Close();
  code_.Close();
}

}  // namespace kerf::synth
