#include "artifact/graph_family.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kerf {
namespace {

enum class Kind {
  kMovement,
  kMask,
  kPointwise,
  kReduction,
  kSoftmax,
  kNorm,
  kPooling,
  kScan,
  kIndexing,
  kMatmul,
  kConvolution,
};
constexpr size_t kKindCount = 11;

struct FamilyRow {
  std::string_view op;  // without "aten." and the overload
  Kind kind;
};

constexpr FamilyRow kFamilyRows[] = {
    {"view", Kind::kMovement},
    {"permute", Kind::kMovement},
    {"expand", Kind::kMovement},
    {"slice", Kind::kMovement},
    {"select", Kind::kMovement},
    {"cat", Kind::kMovement},
    {"flip", Kind::kMovement},
    {"diagonal", Kind::kMovement},
    {"constant_pad_nd", Kind::kMovement},
    {"_to_copy", Kind::kMovement},
    {"full", Kind::kMask},
    {"arange", Kind::kMask},
    {"where", Kind::kMask},
    {"tril", Kind::kMask},
    {"triu", Kind::kMask},
    {"masked_fill", Kind::kMask},
    {"eq", Kind::kMask},
    {"ne", Kind::kMask},
    {"lt", Kind::kMask},
    {"le", Kind::kMask},
    {"gt", Kind::kMask},
    {"ge", Kind::kMask},
    {"sum", Kind::kReduction},
    {"mean", Kind::kReduction},
    {"prod", Kind::kReduction},
    {"amax", Kind::kReduction},
    {"amin", Kind::kReduction},
    {"max", Kind::kReduction},
    {"min", Kind::kReduction},
    {"argmax", Kind::kReduction},
    {"argmin", Kind::kReduction},
    {"any", Kind::kReduction},
    {"all", Kind::kReduction},
    {"var", Kind::kReduction},
    {"var_mean", Kind::kReduction},
    {"std", Kind::kReduction},
    {"linalg_vector_norm", Kind::kReduction},
    {"logsumexp", Kind::kReduction},
    {"_softmax", Kind::kSoftmax},
    {"_log_softmax", Kind::kSoftmax},
    {"native_layer_norm", Kind::kNorm},
    {"native_group_norm", Kind::kNorm},
    {"native_batch_norm", Kind::kNorm},
    {"_native_batch_norm_legit", Kind::kNorm},
    {"_native_batch_norm_legit_no_training", Kind::kNorm},
    {"avg_pool1d", Kind::kPooling},
    {"avg_pool2d", Kind::kPooling},
    {"avg_pool3d", Kind::kPooling},
    {"max_pool2d_with_indices", Kind::kPooling},
    {"max_pool3d_with_indices", Kind::kPooling},
    {"_adaptive_avg_pool2d", Kind::kPooling},
    {"_adaptive_avg_pool3d", Kind::kPooling},
    {"adaptive_max_pool2d", Kind::kPooling},
    {"adaptive_max_pool3d", Kind::kPooling},
    {"cumsum", Kind::kScan},
    {"cumprod", Kind::kScan},
    {"cummax", Kind::kScan},
    {"cummin", Kind::kScan},
    {"logcumsumexp", Kind::kScan},
    {"gather", Kind::kIndexing},
    {"scatter", Kind::kIndexing},
    {"scatter_add", Kind::kIndexing},
    {"scatter_reduce", Kind::kIndexing},
    {"index", Kind::kIndexing},
    {"index_select", Kind::kIndexing},
    {"index_put", Kind::kIndexing},
    {"index_add", Kind::kIndexing},
    {"embedding", Kind::kIndexing},
    {"topk", Kind::kIndexing},
    {"sort", Kind::kIndexing},
    {"mm", Kind::kMatmul},
    {"bmm", Kind::kMatmul},
    {"addmm", Kind::kMatmul},
    {"convolution", Kind::kConvolution},
};

// "aten.sum.dim_IntList" → "sum".
std::string_view ShortName(std::string_view op) {
  if (op.starts_with("aten.")) op.remove_prefix(5);
  return op.substr(0, op.find('.'));
}

Kind KindOf(const GraphNode& node) {
  const std::string_view name = ShortName(node.op);
  for (const FamilyRow& row : kFamilyRows) {
    if (row.op == name) return row.kind;
  }
  return Kind::kPointwise;
}

struct Counts {
  std::array<int, kKindCount> of{};
  int between = 0;  // reductions and softmaxes after the first matrix product and before the last
  int operator[](Kind kind) const { return of[static_cast<size_t>(kind)]; }
};

Counts Count(const Graph& graph) {
  Counts counts;
  int since = 0;
  for (const GraphNode& node : graph.nodes) {
    const Kind kind = KindOf(node);
    ++counts.of[static_cast<size_t>(kind)];
    const bool reduces = kind == Kind::kSoftmax || kind == Kind::kReduction;
    if (reduces && counts[Kind::kMatmul] > 0) ++since;
    if (kind == Kind::kMatmul) counts.between = since;
  }
  return counts;
}

GraphFamily OfContraction(const Counts& n) {
  const int products = n[Kind::kMatmul];
  const int convolutions = n[Kind::kConvolution];
  if (convolutions == 0 && products == 2 && n.between > 0) return GraphFamily::kAttention;
  const int others = n[Kind::kPointwise] + n[Kind::kReduction] + n[Kind::kSoftmax] +
                     n[Kind::kNorm] + n[Kind::kPooling] + n[Kind::kScan] + n[Kind::kIndexing];
  if (products + convolutions > 1 || others > 0) return GraphFamily::kChain;
  return products == 1 ? GraphFamily::kMatmul : GraphFamily::kConvolution;
}

bool IsLoss(const Graph& graph, const Counts& n) {
  const auto inputs = std::count_if(graph.inputs.begin(), graph.inputs.end(), [](const auto& one) {
    return one.source == GraphInput::Source::kInput;
  });
  return inputs > 1 && graph.outputs.size() == 1 && graph.spec(graph.outputs[0]).numel() == 1 &&
         n[Kind::kReduction] > 0;
}

// Whether what comes out is as large as what went in.
bool KeepsItsSize(const Graph& graph) {
  int64_t in = 0;
  int64_t out = 0;
  for (const GraphInput& input : graph.inputs) in = std::max(in, graph.spec(input.value).numel());
  for (const ValueId id : graph.outputs) out = std::max(out, graph.spec(id).numel());
  return out >= in && out > 1;
}

}  // namespace

const char* GraphFamilyName(GraphFamily family) {
  constexpr const char* kNames[] = {"pointwise", "reduction", "norm",   "pooling",
                                    "loss",      "scan",      "matmul", "convolution",
                                    "attention", "indexing",  "chain"};
  return kNames[static_cast<int>(family)];
}

GraphFamily FamilyOf(const Graph& graph) {
  const Counts n = Count(graph);
  if (n[Kind::kMatmul] + n[Kind::kConvolution] > 0) return OfContraction(n);
  if (IsLoss(graph, n)) return GraphFamily::kLoss;
  const int families = (n[Kind::kNorm] > 0) + (n[Kind::kPooling] > 0) + (n[Kind::kScan] > 0);
  const int special = n[Kind::kNorm] + n[Kind::kPooling] + n[Kind::kScan];
  const int reductions = n[Kind::kReduction] + n[Kind::kSoftmax];
  constexpr int kFew = 2;  // pointwise operations that do not make it something else
  if (families > 1 || special > 1 ||
      (special == 1 && (n[Kind::kPointwise] > kFew || reductions > 0 || n[Kind::kIndexing] > 0))) {
    return GraphFamily::kChain;
  }
  if (n[Kind::kNorm] > 0) return GraphFamily::kNorm;
  if (n[Kind::kPooling] > 0) return GraphFamily::kPooling;
  if (n[Kind::kScan] > 0) return GraphFamily::kScan;
  if (n[Kind::kIndexing] > 0) return GraphFamily::kIndexing;
  if (reductions > 0) return KeepsItsSize(graph) ? GraphFamily::kNorm : GraphFamily::kReduction;
  if (n[Kind::kPointwise] + n[Kind::kMask] == 0) return GraphFamily::kIndexing;
  return GraphFamily::kPointwise;
}

}  // namespace kerf
