// Graphs in memory, the plans they get, and refusals. What the kernels compute is tested end to
// end (test/e2e/synth_test.cc).
#include "synth/synthesizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth/lower.h"
#include "synth/plan.h"

namespace kerf::synth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GraphMaker {
 public:
  ValueId Input(std::vector<int64_t> shape) {
    const ValueId id = Value(std::move(shape));
    GraphInput input;
    input.value = id;
    input.index = static_cast<int64_t>(graph_.inputs.size());
    graph_.inputs.push_back(input);
    return id;
  }
  ValueId Node(const std::string& op, std::vector<std::pair<std::string, GraphArg>> args,
               std::vector<int64_t> shape) {
    const ValueId id = Value(std::move(shape));
    graph_.nodes.push_back({op, std::move(args), {id}, 7, "return f(x)"});
    graph_.outputs = {id};
    return id;
  }
  void AlsoGive(ValueId id) { graph_.outputs.push_back(id); }
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  ValueId Value(std::vector<int64_t> shape) {
    graph_.values.push_back(
        {"t" + std::to_string(graph_.values.size()), {DType::kFloat32, std::move(shape)}});
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }
  Graph graph_;
};

Plan PlanOf(const Graph& graph) {
  auto lowered = LowerGraph(graph);
  EXPECT_TRUE(std::holds_alternative<Program>(lowered));
  return MakePlan(std::get<Program>(std::move(lowered)), {});
}

TEST(Synthesizer, ChainsOfElementsAreOneLoop) {
  GraphMaker g;
  const ValueId x = g.Input({64, 1000});
  const ValueId a = g.Node("aten.relu.default", {{"self", GraphArg::Value(x)}}, {64, 1000});
  const ValueId b = g.Node("aten.exp.default", {{"self", GraphArg::Value(a)}}, {64, 1000});
  g.Node("aten.mul.Tensor", {{"self", GraphArg::Value(b)}, {"other", GraphArg::Value(x)}},
         {64, 1000});
  const Plan plan = PlanOf(g.graph());
  ASSERT_EQ(plan.groups.size(), 1U);
  ASSERT_EQ(plan.groups[0].passes.size(), 1U);
  EXPECT_EQ(plan.groups[0].outer.size(), 1U);  // both axes joined
}

// Written out, the last value would have 2^40 parts: this test ends, or the program's time limit
// does it.
TEST(Synthesizer, AValueThatIsUsedTwiceAtEveryStepDoesNotDouble) {
  GraphMaker g;
  ValueId x = g.Input({64, 1000});
  for (int step = 0; step < 40; ++step) {
    x = g.Node("aten.mul.Tensor", {{"self", GraphArg::Value(x)}, {"other", GraphArg::Value(x)}},
               {64, 1000});
  }
  EXPECT_EQ(PlanOf(g.graph()).groups.size(), 1U);
}

TEST(Synthesizer, SoftmaxIsOneGroupOfPasses) {
  GraphMaker g;
  const ValueId x = g.Input({64, 1000});
  g.Node("aten._softmax.default", {{"self", GraphArg::Value(x)}, {"dim", GraphArg::Int(1)}},
         {64, 1000});
  const Plan plan = PlanOf(g.graph());
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].lane, -1);
  EXPECT_EQ(plan.groups[0].rows.size(), 1U);  // the exponentials
}

TEST(Synthesizer, SumsAcrossRowsFillVectorsWithColumns) {
  GraphMaker g;
  const ValueId x = g.Input({64, 1000});
  g.Node("aten.sum.dim_IntList", {{"self", GraphArg::Value(x)}, {"dim", GraphArg::Ints({0})}},
         {1000});
  const Plan plan = PlanOf(g.graph());
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].lane, 0);
}

TEST(Synthesizer, NumbersOfEachRowDoNotDrawVectorsAcrossRows) {
  GraphMaker g;
  const ValueId x = g.Input({64, 16, 3000});
  const ValueId scale = g.Input({16, 1});
  const ValueId shift = g.Input({16, 1});
  const ValueId scaled =
      g.Node("aten.mul.Tensor", {{"self", GraphArg::Value(x)}, {"other", GraphArg::Value(scale)}},
             {64, 16, 3000});
  const ValueId shifted = g.Node(
      "aten.add.Tensor", {{"self", GraphArg::Value(scaled)}, {"other", GraphArg::Value(shift)}},
      {64, 16, 3000});
  g.Node("aten.sum.dim_IntList", {{"self", GraphArg::Value(shifted)}, {"dim", GraphArg::Ints({2})}},
         {64, 16});
  const Plan plan = PlanOf(g.graph());
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].lane, -1);  // along the row, which is what lies in memory
}

TEST(Synthesizer, SumsOfEverythingAreCutForTheThreads) {
  GraphMaker g;
  const ValueId x = g.Input({1 << 20});
  g.Node("aten.sum.dim_IntList", {{"self", GraphArg::Value(x)}, {"dim", GraphArg::Ints({0})}}, {});
  const Plan plan = PlanOf(g.graph());
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_TRUE(plan.groups[0].parallel);
  EXPECT_FALSE(plan.groups[1].parallel);
}

// softmax(q @ k * 0.5) @ v; gives the scores.
ValueId AddAttention(GraphMaker& g) {
  const ValueId q = g.Input({4, 50, 16});
  const ValueId k = g.Input({4, 16, 60});
  const ValueId v = g.Input({4, 60, 8});
  const ValueId scores =
      g.Node("aten.bmm.default", {{"self", GraphArg::Value(q)}, {"mat2", GraphArg::Value(k)}},
             {4, 50, 60});
  const ValueId scaled =
      g.Node("aten.mul.Tensor",
             {{"self", GraphArg::Value(scores)}, {"other", GraphArg::Float(0.5)}}, {4, 50, 60});
  const ValueId weights =
      g.Node("aten._softmax.default",
             {{"self", GraphArg::Value(scaled)}, {"dim", GraphArg::Int(2)}}, {4, 50, 60});
  g.Node("aten.bmm.default", {{"self", GraphArg::Value(weights)}, {"mat2", GraphArg::Value(v)}},
         {4, 50, 8});
  return scores;
}

std::string SourceOf(const Graph& graph) {
  auto made = Synthesize(graph, {});
  return made.ok() ? std::get<Synthesis>(*made).source : made.error().message;
}

TEST(Synthesizer, AttentionIsOneStepWithoutItsScores) {
  GraphMaker g;
  AddAttention(g);
  EXPECT_THAT(SourceOf(g.graph()), HasSubstr("4 operations in 1 step."));
  EXPECT_THAT(SourceOf(g.graph()), Not(HasSubstr("12000")));  // 4 * 50 * 60
}

TEST(Synthesizer, ScoresThatSomebodyWantsAreComputedOnce) {
  GraphMaker g;
  const ValueId scores = AddAttention(g);
  g.AlsoGive(scores);
  EXPECT_THAT(SourceOf(g.graph()), Not(HasSubstr("step1_attention")));
}

TEST(Synthesizer, RefusesAnUnknownOperatorByName) {
  GraphMaker g;
  const ValueId x = g.Input({4});
  g.Node("aten.mystery.default", {{"self", GraphArg::Value(x)}}, {4});
  auto made = Synthesize(g.graph(), {});
  ASSERT_TRUE(made.ok());
  const auto* refusal = std::get_if<Refusal>(&*made);
  ASSERT_NE(refusal, nullptr);
  EXPECT_THAT(refusal->ToString(), HasSubstr("aten.mystery.default (line 7: `return f(x)`)"));
}

TEST(Synthesizer, RefusesAResultOfAnotherShape) {
  GraphMaker g;
  const ValueId x = g.Input({4, 5});
  g.Node("aten.sum.dim_IntList", {{"self", GraphArg::Value(x)}, {"dim", GraphArg::Ints({1})}}, {3});
  auto made = Synthesize(g.graph(), {});
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(std::holds_alternative<Refusal>(*made));
}

TEST(Synthesizer, RefusesAnotherImplementation) {
  GraphMaker g;
  g.Input({4});
  EXPECT_FALSE(Synthesize(g.graph(), {.impl = "cobol"}).ok());
}

TEST(Synthesizer, WritesNoLibraryCallsAndNoMacros) {
  GraphMaker g;
  const ValueId x = g.Input({64, 1000});
  g.Node("aten._softmax.default", {{"self", GraphArg::Value(x)}, {"dim", GraphArg::Int(1)}},
         {64, 1000});
  auto made = Synthesize(g.graph(), {});
  ASSERT_TRUE(made.ok());
  const auto& kernel = std::get<Synthesis>(*made);
  EXPECT_THAT(kernel.source, HasSubstr("line 7: return f(x)"));
  EXPECT_THAT(kernel.source, Not(HasSubstr("#define")));
  EXPECT_THAT(kernel.source, Not(HasSubstr("blas")));
  EXPECT_THAT(kernel.aul, HasSubstr("import aul as U"));
  EXPECT_THAT(kernel.rationale, HasSubstr("read from memory once"));
}

}  // namespace
}  // namespace kerf::synth
