#include "artifact/graph_family.h"

#include <gtest/gtest.h>

namespace kerf {
namespace {

// A graph of nodes that each read the value before them; `inputs` of them, and a result of `out`
// elements (the input has 64).
Graph Line(const std::vector<std::string>& ops, int inputs = 1, int64_t out = 64) {
  Graph graph;
  for (int i = 0; i < inputs; ++i) {
    graph.values.push_back({"input", {DType::kFloat32, {64}}});
    graph.inputs.push_back({i, GraphInput::Source::kInput, i});
  }
  for (const std::string& op : ops) {
    const auto id = static_cast<ValueId>(graph.values.size());
    graph.values.push_back({op, {DType::kFloat32, {out}}});
    graph.nodes.push_back({op, {{"self", GraphArg::Value(id - 1)}}, {id}});
  }
  graph.outputs = {static_cast<ValueId>(graph.values.size() - 1)};
  return graph;
}

std::string Family(const Graph& graph) { return GraphFamilyName(FamilyOf(graph)); }

TEST(GraphFamily, SingleOperationsHaveTheirOwn) {
  EXPECT_EQ(Family(Line({"aten.relu.default"})), "pointwise");
  EXPECT_EQ(Family(Line({"aten.where.self"})), "pointwise");
  EXPECT_EQ(Family(Line({"aten.sum.dim_IntList"}, 1, 8)), "reduction");
  EXPECT_EQ(Family(Line({"aten._softmax.default"})), "norm");
  EXPECT_EQ(Family(Line({"aten.native_layer_norm.default"})), "norm");
  EXPECT_EQ(Family(Line({"aten.avg_pool2d.default"})), "pooling");
  EXPECT_EQ(Family(Line({"aten.cumsum.default"})), "scan");
  EXPECT_EQ(Family(Line({"aten.mm.default"}, 2)), "matmul");
  EXPECT_EQ(Family(Line({"aten.convolution.default"})), "convolution");
  EXPECT_EQ(Family(Line({"aten.gather.default"}, 2)), "indexing");
  EXPECT_EQ(Family(Line({"aten.cat.default"}, 2)), "indexing");
}

TEST(GraphFamily, MovementAndMasksDoNotMakeAChain) {
  EXPECT_EQ(Family(Line({"aten.permute.default", "aten.mm.default", "aten.where.self"}, 2)),
            "matmul");
  EXPECT_EQ(Family(Line({"aten.flip.default", "aten.cumsum.default", "aten.flip.default"})),
            "scan");
}

TEST(GraphFamily, WhatIsReducedAndGoesBackIsANorm) {
  EXPECT_EQ(
      Family(Line({"aten.mul.Tensor", "aten.mean.dim", "aten.rsqrt.default", "aten.mul.Tensor"})),
      "norm");
}

TEST(GraphFamily, SeveralInputsToOneNumberAreALoss) {
  const std::vector<std::string> ops = {"aten.sub.Tensor", "aten.mul.Tensor", "aten.mean.dim"};
  EXPECT_EQ(Family(Line(ops, 2, 1)), "loss");
  EXPECT_EQ(Family(Line(ops, 1, 1)), "reduction");
}

TEST(GraphFamily, WorkAfterAProductIsAChain) {
  EXPECT_EQ(Family(Line({"aten.addmm.default", "aten.relu.default"})), "chain");
  EXPECT_EQ(Family(Line({"aten.convolution.default", "aten.convolution.default"})), "chain");
  EXPECT_EQ(Family(Line({"aten.native_layer_norm.default", "aten.avg_pool2d.default"})), "chain");
}

TEST(GraphFamily, ASoftmaxBetweenProductsIsAttention) {
  EXPECT_EQ(
      Family(Line(
          {"aten.bmm.default", "aten.mul.Tensor", "aten._softmax.default", "aten.bmm.default"}, 3)),
      "attention");
  EXPECT_EQ(Family(Line({"aten.bmm.default", "aten.bmm.default", "aten._softmax.default"}, 3)),
            "chain");
}

}  // namespace
}  // namespace kerf
