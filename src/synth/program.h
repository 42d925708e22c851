// The graph in the synthesizer's own terms: every tensor is given by what one of its elements is.
// Lowering writes programs, planning turns them into loops.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "artifact/graph.h"
#include "artifact/tensor.h"
#include "synth/expr.h"

namespace kerf::synth {

// How a reduction or a scan joins terms. The indices of kArgMax and kArgMin count along the
// reduced axes in their order.
enum class Combine { kSum, kProd, kMax, kMin, kAny, kAll, kArgMax, kArgMin, kLogSumExp };

enum class TensorKind {
  kInput,      // given: an argument, a parameter or a constant
  kPointwise,  // body over the axes' variables 0 … rank-1
  kReduce,     // body over the axes' and then the reduced variables, joined by `combine`
  kScan,       // running `combine` of body along `axis`
  kSpecial,    // made by an algorithm of its own, see `special`
};

// Where an input's bytes are (docs/formats/graph.md).
struct Source {
  GraphInput::Source kind = GraphInput::Source::kInput;
  int index = 0;
  std::string bytes;  // of a constant
};

struct AttentionParts;

// An algorithm that is no loop over independent elements: sorting, scattering.
struct Special {
  std::string name;           // "sort", "topk", "scatter", "attention", …
  std::vector<int> operands;  // tensors that must lie in memory
  std::vector<int> results;   // all tensors it writes, this one among them
  std::map<std::string, int64_t> numbers;
  std::shared_ptr<const AttentionParts> attention;  // synth/attention.h
};

// A convolution as such, for whoever has a better way than its definition as a sum.
struct ConvolutionShape {
  int input = -1;  // tensors; -1 when this is no convolution
  int weight = -1;
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
};

struct Tensor {
  TensorKind kind = TensorKind::kPointwise;
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  ExprPtr body;
  std::vector<int64_t> reduced;  // extents of the reduced axes
  Combine combine = Combine::kSum;
  int axis = 0;
  Source source;
  Special special;
  // Sums that lose too much in float32 are kept in float64 (docs/synth.md, "Accumulation").
  bool wide = false;
  // A product of two tensors summed over: worth its own loops, never recomputed.
  bool contraction = false;
  ConvolutionShape convolution;
  std::string op;    // the operator this comes from
  std::string what;  // what the element is, in words: "row maximum"
  int line = 0;
  std::string text;  // the line of the reference

  [[nodiscard]] int rank() const { return static_cast<int>(shape.size()); }
  [[nodiscard]] int64_t numel() const;
  [[nodiscard]] int64_t terms() const;  // how many each element of a reduction joins
};

struct Program {
  std::vector<Tensor> tensors;  // a tensor only uses earlier ones
  std::vector<int> inputs;
  std::vector<int> outputs;  // in the kernel's order; a tensor may occur twice
};

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& shape);
// The place of an element in a contiguous tensor.
Index FlatIndex(const std::vector<int64_t>& shape, const std::vector<Index>& indices);
// No index can leave the shape. Indices that data decide count as inside: the reference has seen
// them to be right.
bool InsideShape(const std::vector<int64_t>& shape, const std::vector<Index>& indices);
// The same without trust in data: an index that is read from a tensor may be anything. Only such
// loads may move out of a condition.
bool SurelyInside(const std::vector<int64_t>& shape, const std::vector<Index>& indices);
// What a reduction over nothing gives.
ExprPtr Identity(Combine combine, DType type);
bool IsArg(Combine combine);

}  // namespace kerf::synth
