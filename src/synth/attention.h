// softmax(f(q @ k)) @ v as one step: the matrix of scores, which is the largest thing there, then
// never lies in memory. Found by what the tensors compute, however the reference wrote it.
#pragma once

#include <memory>
#include <vector>

#include "synth/program.h"

namespace kerf::synth {

// A matrix of each batch, as it lies in the memory of one of the special tensor's operands.
struct AttentionMatrix {
  size_t operand = 0;
  int64_t offset = 0;
  std::vector<int64_t> batch_strides;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

// Variables of the expressions: 0 is the batch as one number, 1 the query, 2 the key. Loads name
// their tensor by its place in Special::operands; the score itself is the load of kScore.
struct AttentionParts {
  static constexpr int kScore = -1;

  std::vector<int64_t> batch;
  int64_t queries = 1, keys = 1, depth = 1, value_depth = 1;
  AttentionMatrix q, k, v;  // queries × depth, keys × depth, keys × value_depth
  double scale = 1;
  bool causal = false;
  ExprPtr score;  // what becomes of a scaled score; null: nothing
  ExprPtr empty;  // queries whose result is 0 whatever the scores; null: none
  DType accumulate = DType::kFloat32;
};

// Turns products with a softmax in between into special tensors named "attention", where nobody
// else needs the scores.
void FuseAttention(Program& program);

}  // namespace kerf::synth
