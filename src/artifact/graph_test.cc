#include "artifact/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y, _ = op(x, w, [c, none], 1, 2.0, inf, "none", float32)
std::string Text() {
  return R"({"format":"kerf.graph","version":1,"framework":"torch","framework_version":"2.13.0","capture":"torch.dispatch",)"
         R"("specialised":[{"index":1,"value":0.5}],)"
         R"("values":[{"name":"x","dtype":"float32","shape":[2,3]},{"name":"w","dtype":"bfloat16","shape":[3]},)"
         R"({"name":"c","dtype":"int8","shape":[3]},{"name":"y","dtype":"float32","shape":[]}],)"
         R"("inputs":[{"value":0,"source":"inputs","index":0},{"value":1,"source":"params","index":2,"name":"fc.w"},)"
         R"({"value":2,"source":"constant","data":"AQID"}],)"
         R"("nodes":[{"op":"aten.op.default","args":{"self":{"value":0},"other":{"value":1},)"
         R"("more":[{"value":2},null],"n":1,"f":2.0,"i":{"float":"inf"},"s":"none","d":{"dtype":"float32"},"b":true},)"
         R"("outputs":[3,null],"line":12,"text":"return x"}],"outputs":[3]})";
}

std::string With(const std::string& from, const std::string& to) {
  std::string text = Text();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string Problem(const std::string& text) {
  const Result<CaptureOutcome> outcome = ParseCapture(text);
  return outcome.ok() ? "" : outcome.error().message;
}

TEST(GraphReader, ReadsEverything) {
  const Result<Graph> graph = ParseGraph(Text());
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->framework, "torch");
  EXPECT_EQ(graph->capture, "torch.dispatch");
  EXPECT_EQ(graph->specialised[0].index, 1);
  EXPECT_EQ(graph->spec(1).ToString(), "bfloat16[3]");
  EXPECT_EQ(graph->inputs[1].source, GraphInput::Source::kParam);
  EXPECT_EQ(graph->inputs[1].index, 2);
  EXPECT_EQ(graph->inputs[2].data, std::string("\1\2\3"));
  const GraphNode& node = graph->nodes[0];
  EXPECT_THAT(node.operands(), ElementsAre(0, 1, 2));
  EXPECT_THAT(node.outputs, ElementsAre(3, kNoValue));
  EXPECT_EQ(node.line, 12);
  EXPECT_THAT(graph->outputs, ElementsAre(3));
}

TEST(GraphReader, KeepsTheKindsOfArguments) {
  const Result<Graph> graph = ParseGraph(Text());
  ASSERT_TRUE(graph.ok());
  const GraphNode& node = graph->nodes[0];
  EXPECT_EQ(node.arg("n").AsInt(), 1);
  EXPECT_EQ(node.arg("n").AsNumber(), 1.0);
  EXPECT_EQ(node.arg("f").kind(), GraphArg::Kind::kFloat);  // 2.0 is no int
  EXPECT_TRUE(std::isinf(*node.arg("i").AsNumber()));
  EXPECT_EQ(node.arg("s").AsString(), "none");
  EXPECT_EQ(node.arg("d").AsDType(), DType::kFloat32);
  EXPECT_EQ(node.arg("b").AsBool(), true);
  EXPECT_TRUE(node.arg("more").items()[1].is_none());
  EXPECT_TRUE(node.arg("absent").is_none());
  EXPECT_EQ(node.arg("more").ToString(), "[%2, none]");
  EXPECT_FALSE(node.arg("more").AsInts().has_value());
  EXPECT_THAT(*GraphArg::Ints({4, 5}).AsInts(), ElementsAre(4, 5));
}

TEST(GraphWriter, WritesWhatWasRead) {
  const Result<Graph> graph = ParseGraph(Text());
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(WriteGraph(*graph), Text());
}

TEST(GraphReader, ReadsARefusal) {
  const std::string text =
      R"({"format":"kerf.graph","version":1,"refused":{"what":"random numbers","line":7,"text":"rand","detail":"why"}})";
  const Result<CaptureOutcome> outcome = ParseCapture(text);
  ASSERT_TRUE(outcome.ok());
  ASSERT_TRUE(outcome->refusal.has_value());
  EXPECT_EQ(outcome->refusal->ToString(), "random numbers (line 7: rand): why");
  EXPECT_EQ(WriteRefusal(*outcome->refusal), text);
  const Result<Graph> graph = ParseGraph(text);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kInvalidInput);
}

TEST(GraphReader, RefusesAValueReadBeforeItIsThere) {
  EXPECT_THAT(Problem(With(R"("self":{"value":0})", R"("self":{"value":3})")),
              HasSubstr("reads value 3 before it is there"));
}

TEST(GraphReader, RefusesAValueThatDoesNotExist) {
  EXPECT_THAT(Problem(With(R"("self":{"value":0})", R"("self":{"value":99})")),
              HasSubstr("reads value 99"));
  EXPECT_THAT(Problem(With(R"("outputs":[3]})", R"("outputs":[4]})")), HasSubstr("output 4"));
  EXPECT_THAT(Problem(With(R"("value":2,"source")", R"("value":-2,"source")")),
              HasSubstr("a value's number"));
}

TEST(GraphReader, RefusesAValueGivenTwice) {
  EXPECT_THAT(Problem(With(R"("outputs":[3,null])", R"("outputs":[3,0])")),
              HasSubstr("value 0 is given twice"));
}

TEST(GraphReader, RefusesAValueNobodyGives) {
  EXPECT_THAT(
      Problem(With(R"({"name":"y")", R"({"name":"z","dtype":"bool","shape":[]},{"name":"y")")),
      HasSubstr("nothing gives value 4"));
}

TEST(GraphReader, RefusesAConstantOfAnotherSize) {
  EXPECT_THAT(Problem(With("AQID", "AQIDBA==")), HasSubstr("constant 2 has 4 bytes, its shape 3"));
  EXPECT_THAT(Problem(With("AQID", "AQI")), HasSubstr("no base64"));
}

TEST(GraphReader, RefusesShapesThatCannotBe) {
  EXPECT_THAT(Problem(With("[2,3]", "[-2,3]")), HasSubstr("cannot be"));
  EXPECT_THAT(Problem(With("[2,3]", "[4611686018427387904,4]")), HasSubstr("cannot be"));
}

TEST(GraphReader, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Problem(With(R"("dtype":"int8")", R"("dtype":"int7")")), HasSubstr("'int7'"));
  EXPECT_THAT(Problem(With(R"("source":"inputs")", R"("source":"sky")")), HasSubstr("'sky'"));
  EXPECT_THAT(Problem(With(R"("line":12)", R"("lime":12)")), HasSubstr("'lime'"));
  EXPECT_THAT(Problem(With(R"("version":1)", R"("version":2)")), HasSubstr("version 2"));
  EXPECT_THAT(Problem(With(R"({"float":"inf"})", R"({"float":"big"})")), HasSubstr("'big'"));
  EXPECT_THAT(Problem(With(R"("n":1,)", R"("n":[[[[[1]]]]],)")), HasSubstr("too deep"));
  EXPECT_THAT(Problem(With(R"("n":1,)", R"("n":99999999999999999999,)")), HasSubstr("64 bits"));
}

TEST(GraphReader, RefusesATornText) {
  EXPECT_NE(Problem(Text().substr(0, Text().size() / 2)), "");
  EXPECT_NE(Problem(""), "");
}

}  // namespace
}  // namespace kerf
