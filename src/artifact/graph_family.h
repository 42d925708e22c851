// Which family of kernels a graph belongs to, for tables that compare like with like.
//
// Every node is one of: movement (views, slices, cat), mask (where, comparison, arange), pointwise,
// reduction, or one of the operations with a family of their own. Then, the first row that fits:
//
//   attention    a softmax, whole or taken apart, between two matrix products, no convolution
//   matmul       one matrix product, else movement and masks only
//   convolution  one convolution, else movement and masks only
//   chain        another graph with a product or a convolution
//   loss         several inputs that are no parameters, reduced to one number
//   chain        operations of several families, or more than two pointwise ones around a norm, a
//   pooling or a
//                scan that is one operation
//   indexing     gather, scatter, sort, or movement alone
//   norm, pooling, scan
//                that operation, alone or with one or two pointwise ones
//   norm         reductions whose results go back to every element (softmax, RMS norm)
//   reduction    what has a reduction
//   pointwise    the rest
#pragma once

#include "artifact/graph.h"

namespace kerf {

enum class GraphFamily {
  kPointwise,
  kReduction,
  kNorm,
  kPooling,
  kLoss,
  kScan,
  kMatmul,
  kConvolution,
  kAttention,
  kIndexing,
  kChain,
};

const char* GraphFamilyName(GraphFamily family);
GraphFamily FamilyOf(const Graph& graph);

}  // namespace kerf
