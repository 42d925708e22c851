// Text of C++ functions for matrix products, convolutions and attention on a CPU.
//
// A caller pastes ContractionPrelude() once at the top of the candidate's source, then any number
// of emitted functions, then calls them:
//
//   MatmulSpec spec;                         // y = relu(x @ w.T + bias)
//   spec.m = 128, spec.n = 256, spec.k = 512;
//   spec.a = {DType::kFloat32, {}, 512, 1};  // x as it lies in memory
//   spec.b = {DType::kFloat32, {}, 1, 512};  // w, read as its transpose
//   Epilogue epilogue;
//   epilogue.parameters = {{"const float*", "bias"}, {"float*", "y"}};
//   epilogue.store = [](const OutputSite& at) {
//     return "const float sum = " + at.value + " + bias[" + at.col + "];\n" +
//            "y[" + at.row + " * 256 + " + at.col + "] = sum > 0.0f ? sum : 0.0f;";
//   };
//   EmitMatmul(spec, "Linear", epilogue)
//     → static void Linear(const float* a, const float* b, const float* bias, float* y, int
//     threads)
//
// Every size and stride is a constant of the text. Sizes may be 0 and 1. The functions keep scratch
// memory between calls in thread-local storage, use OpenMP with `threads` threads, call no library,
// and may be called from several threads at once. Sums are kept in the accumulation type; the order
// of addition differs from a plain loop, nothing else (no fast math).
//
// In emitted text float16 and bfloat16 operands are `const uint16_t*`, the other types are float,
// double, int32_t and int64_t. An operand pointer is the element at index 0 of every dimension.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "artifact/tensor.h"
#include "base/result.h"

namespace kerf::synth {

// What the emitted text is tuned for. Correctness does not depend on it.
struct CpuTarget {
  int vector_bytes = 0;  // 16, 32 or 64; 0: the text asks the compiler (__AVX512F__, __AVX__)
  int64_t l2_bytes = 1 << 20;
};

// Which part of a matrix the graph proves to be other than zero.
enum class Structure {
  kFull,
  kLower,     // element (row, col) is zero where col > row
  kUpper,     // element (row, col) is zero where col < row
  kDiagonal,  // zero where col != row
};

// Text of an expression for one element, from text of its indices. `batch` is the linear batch
// index.
using ElementText = std::function<std::string(const std::string& batch, const std::string& row,
                                              const std::string& col)>;

// A matrix (or a batch of them) as it is multiplied: rows and columns are those of the product's
// formula, a transposed operand has its strides swapped. Strides are in elements and may be 0
// (broadcast) or negative.
struct Operand {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> batch_strides;  // one for each of the spec's batch dimensions; 0 broadcasts
  int64_t row_stride = 0;
  int64_t col_stride = 1;
  Structure structure = Structure::kFull;
  // When set, elements are read through this text (a fused producer) and the strides are not used;
  // it may name the operand's pointer and the epilogue's parameters. Its value is converted to the
  // accumulation type.
  ElementText load;
};

struct Parameter {
  std::string type;  // "const float*"
  std::string name;  // "bias"
};

// Where a finished value goes. All are expressions without side effects, of type int64_t but for
// `value`.
struct OutputSite {
  std::string value;  // the sum, of the accumulation type
  std::string batch;  // matmul, attention: linear batch index; convolution: sample
  std::string row;    // matmul: m; attention: query; convolution: output channel
  std::string col;    // matmul: n; attention: column of v; convolution: linear output position
  std::vector<std::string> position;  // convolution: one index for each spatial dimension
};

// The statements that take finished sums: cast, bias, activation, residual, store. `store` is
// pasted into the body of a `#pragma omp simd` loop over `col` (for convolutions: over the last
// dimension), so that text without branches becomes vector code. Parameters may have any name that
// contains an underscore: the emitted functions use plain words, which are refused.
struct Epilogue {
  std::vector<Parameter> parameters;  // after the operands, before `threads`
  std::function<std::string(const OutputSite&)> store;
  // Optional: statements before the loop over `col`, for what depends on batch and row only;
  // `value` and `col` of the site are empty, `position` too.
  std::function<std::string(const OutputSite&)> before_row;
};

// out[batch, i, j] = sum_k a[batch, i, k] * b[batch, k, j]
// The emitted function: (const A* a, const B* b, PARAMETERS, int threads).
struct MatmulSpec {
  std::vector<int64_t> batch;  // sizes of the batch dimensions; empty: one product
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Operand a;
  Operand b;
  DType accumulate = DType::kFloat32;  // float32, float64, int32 or int64
};

// Convolution as torch defines it, over tensors that are contiguous in torch's layout: input
// [batch, in_channels, spatial…], weight [out_channels, in_channels / groups, kernel…]; when
// `transposed`, weight is [in_channels, out_channels / groups, kernel…]. A bias belongs into the
// epilogue (before_row). The emitted function: (const T* input, const T* weight, PARAMETERS, int
// threads).
struct ConvSpec {
  int dims = 2;  // 1, 2 or 3; the arrays below use the first `dims` entries
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  std::array<int64_t, 3> input = {1, 1, 1};
  std::array<int64_t, 3> kernel = {1, 1, 1};
  std::array<int64_t, 3> stride = {1, 1, 1};
  std::array<int64_t, 3> padding = {0, 0, 0};
  std::array<int64_t, 3> dilation = {1, 1, 1};
  std::array<int64_t, 3> output_padding = {0, 0, 0};  // transposed only
  bool transposed = false;
  DType dtype = DType::kFloat32;
  DType accumulate = DType::kFloat32;

  // Size of the output along spatial dimension `dim`; 0 or less when there is none.
  [[nodiscard]] int64_t OutputSize(int dim) const;
};

// out[batch, i, c] = sum_j weight[batch, i, j] * v[batch, j, c]
//   with weight[batch, i, :] = softmax(scale * sum_d q[batch, i, d] * k[batch, :, d] + mask[batch,
//   i, :])
// without the matrix of scores in memory.
// The emitted function: (const T* q, const T* k, const T* v, [const M* mask,] PARAMETERS, int
// threads).
struct AttentionSpec {
  std::vector<int64_t> batch;  // for example {batch, heads}
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t depth = 1;        // columns of q and k
  int64_t value_depth = 1;  // columns of v
  Operand q;                // queries × depth
  Operand k;                // keys × depth
  Operand v;                // keys × value_depth
  double scale = 1.0;
  DType accumulate = DType::kFloat32;  // float32 or float64
  bool causal = false;                 // j <= i only
  // What a query without any score but -inf gives: zeros, as torch's operator does, or NaN, as a
  // plain softmax.
  bool empty_rows_are_zero = true;
  // Text of what becomes of the scaled score `value` at batch, row (query) and col (key), before
  // the mask; it may name the epilogue's parameters.
  std::function<std::string(const OutputSite&)> score;
  enum class Mask { kNone, kAdded, kKept } mask = Mask::kNone;  // kKept: bool (uint8_t), 0 removes
  Operand mask_operand;                                         // queries × keys
};

// Includes, vector types, scratch memory and conversions that the emitted functions use. Once per
// source. With the text of all `functions`, what none of them uses is left out.
std::string ContractionPrelude(const CpuTarget& target = {}, const std::string& functions = "");

// kInvalidInput when the types or sizes are not of a contraction.
Result<std::string> EmitMatmul(const MatmulSpec& spec, const std::string& function_name,
                               const Epilogue& epilogue, const CpuTarget& target = {});
Result<std::string> EmitConv(const ConvSpec& spec, const std::string& function_name,
                             const Epilogue& epilogue, const CpuTarget& target = {});
Result<std::string> EmitAttention(const AttentionSpec& spec, const std::string& function_name,
                                  const Epilogue& epilogue, const CpuTarget& target = {});

}  // namespace kerf::synth
