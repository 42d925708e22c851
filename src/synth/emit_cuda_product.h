// Sums of products by tiles in shared memory: products of matrices and convolutions alike. The
// loops of the result are sorted by the factor that uses them:
//
//   batch   both        rows   only the left one        cols   only the right one
//
// A convolution is then a product of matrices whose right one is never built (implicit GEMM).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "synth/emit_cuda_writer.h"

namespace kerf::synth {

struct CudaTile {
  int rows = 64, cols = 64, depth = 16;
  int row_packs = 1, col_packs = 1;  // packs of four that one thread has
  [[nodiscard]] int row_threads() const { return rows / 4 / row_packs; }
  [[nodiscard]] int col_threads() const { return cols / 4 / col_packs; }
  [[nodiscard]] int threads() const { return row_threads() * col_threads(); }
};

// One of the two factors.
struct CudaFactor {
  ExprPtr value;
  std::vector<Guard> guards;
  std::vector<ExprPtr> conditions;
  std::set<int> vars;

  void Use(const ExprPtr& expr) {
    std::vector<int> list;
    CollectExprVars(expr, list);
    vars.insert(list.begin(), list.end());
  }
};

class ProductEmitter : public CudaWriter {
 public:
  ProductEmitter(const CudaContext& context, int group)
      : CudaWriter(context, group), int_(context.index_type) {}
  std::optional<CudaFunction> Run(const std::string& function);

 private:
  static int64_t Up(int64_t a, int64_t b) { return (a + b - 1) / b; }
  CudaFunction Made(const std::string& function, int64_t rows, int64_t cols, int64_t threads);

  // What the sum is.
  bool Understand();
  [[nodiscard]] bool Covers(const CudaFactor& factor, const std::vector<int>& vars) const;
  // What must hold for a term is put to the factor that knows its variables.
  bool SortGuards(const Statement& sum, const std::vector<ExprPtr>& conditions);
  bool SortLoops(const Pass& pass, const Statement& sum);
  void ChooseTile();

  // Loop variables from a number, the last one fastest.
  void Decode(const std::string& from, const std::vector<Loop>& loops, const std::string& letter);
  void EmitBlock(int64_t rows, int64_t cols);
  void EmitPlaces();
  // Elements that lie side by side along the depth are read by neighbouring threads.
  [[nodiscard]] bool AlongDepth(const CudaFactor& factor, const std::vector<Loop>& loops) const;
  // One term of a factor, as a function of its line and depth.
  void EmitTerm(const std::string& word, const CudaFactor& factor, const std::vector<Loop>& loops,
                const std::string& line, int tile);
  void EmitFactor(const std::string& word, const CudaFactor& factor, const std::vector<Loop>& loops,
                  const std::string& line, int tile);
  // Place of the n-th element that a thread reads: line within the tile, and depth.
  std::string LineOf(const std::string& word);
  std::string DepthOf(const std::string& word);
  void EmitSums();
  void EmitResults();
  // What is done with one sum.
  void EmitEpilogue(const std::string& value);

  // Tensor cores: both factors are plain matrices of one half type (emit_cuda_tensor.cc).
  bool UnderstandHalves();
  bool UnderstandHalf(const CudaFactor& factor, const std::vector<Loop>& loops, bool& along);
  CudaFunction RunHalves(const std::string& function);
  void EmitSource(const std::string& word, const CudaFactor& factor, const std::vector<Loop>& loops,
                  const std::string& line);
  void EmitCopies(const std::string& word);
  void EmitMma();
  void EmitFinish();

  std::string int_;
  DType type_ = DType::kFloat32;
  CudaFactor left_, right_;
  std::vector<Loop> batch_, rows_, cols_, depth_;
  std::set<int> reduced_vars_;
  CudaTile tile_;
  std::map<std::string, bool> along_;
};

}  // namespace kerf::synth
