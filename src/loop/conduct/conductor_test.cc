#include "loop/conduct/conductor.h"

#include <gtest/gtest.h>

namespace kerf::conduct {
namespace {

using Kind = Need::Kind;

constexpr ActionType kDesign = ActionType::kDoDesigner;
constexpr ActionType kFixDesign = ActionType::kFixDesigner;
constexpr ActionType kCode = ActionType::kDoCoder;
constexpr ActionType kFixCode = ActionType::kFixCoder;
constexpr ActionType kVerify = ActionType::kVerify;

TakenCode Code(const std::string& code) { return {code, "a strategy", ""}; }
// Another one each time: equal code is treated differently.
TakenCode Code() {
  static int count = 0;
  return Code("code " + std::to_string(++count));
}
TakenCode Unusable() { return {"", "", "there is no code in it."}; }
TakenCheck Check(int64_t result) { return {result, "a reason", "a suggestion", ""}; }
TakenCheck Unreadable() { return {std::nullopt, "", "", "there is no JSON in it."}; }

Attempt Failed(const std::string& log = "a log") {
  Attempt attempt;
  attempt.status = "wrong_value";
  attempt.log = log;
  return attempt;
}
Attempt Passed(std::optional<double> speedup = std::nullopt) {
  Attempt attempt;
  attempt.passed = true;
  attempt.status = "passed";
  attempt.speedup = speedup;
  return attempt;
}

void ExpectNeed(const Conductor& conductor, Kind kind, ActionType action) {
  EXPECT_EQ(conductor.need().kind, kind) << conductor.need().because;
  EXPECT_STREQ(ActionName(conductor.need().action), ActionName(action));
}

Conductor At(ActionType action, Rules rules = {}) {
  return {rules, {.action = action, .design = "design", .code = "given"}};
}

TEST(Conductor, CleanRunIsDesignCodeVerify) {
  Conductor conductor({}, {});
  ExpectNeed(conductor, Kind::kWork, kDesign);
  conductor.TakeCode(Code("design"));
  ExpectNeed(conductor, Kind::kCheck, kDesign);
  conductor.TakeCheck(Check(1));
  ExpectNeed(conductor, Kind::kWork, kCode);
  EXPECT_EQ(conductor.design(), "design");
  conductor.TakeCode(Code("code"));
  ExpectNeed(conductor, Kind::kCheck, kCode);
  conductor.TakeCheck(Check(1));
  ExpectNeed(conductor, Kind::kVerify, kVerify);
  EXPECT_EQ(conductor.code(), "code");
  conductor.TakeVerdict(Passed());
  ExpectNeed(conductor, Kind::kStop, ActionType::kExit);
  EXPECT_EQ(conductor.steps(), 3);
  ASSERT_NE(conductor.reflection().best(), nullptr);
  EXPECT_EQ(conductor.reflection().best()->code, "code");
}

TEST(Conductor, RejectedDesignIsRepairedWithTheSuggestion) {
  Conductor conductor({}, {});
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(0));
  ExpectNeed(conductor, Kind::kWork, kFixDesign);
  EXPECT_EQ(conductor.need().suggestions, "a suggestion");
  EXPECT_EQ(conductor.need().because, "the check found: a reason");
}

TEST(Conductor, RejectedCodeIsRepaired) {
  Conductor conductor = At(kCode);
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(0));
  ExpectNeed(conductor, Kind::kWork, kFixCode);
}

TEST(Conductor, AfterTwoRepairsInARowTheNextStageComesUnchecked) {
  Conductor conductor = At(kCode);
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(0));
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(0));
  ExpectNeed(conductor, Kind::kWork, kFixCode);
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kVerify, kVerify);
}

TEST(Conductor, VerifyingEndsARowOfRepairs) {
  Conductor conductor = At(kCode, {.limit_steps = 20});
  for (int i = 0; i < 3; ++i) {
    conductor.TakeCode(Code());
    if (i < 2) conductor.TakeCheck(Check(0));
  }
  conductor.TakeVerdict(Failed());
  conductor.TakeAnalysis(Check(2));
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kCheck, kFixCode);
}

TEST(Conductor, CodeThatWasJudgedIsNotCheckedAgain) {
  Conductor conductor = At(kCode, {.limit_steps = 20});
  conductor.TakeCode(Code("wrong"));
  conductor.TakeCheck(Check(1));
  conductor.TakeVerdict(Failed());
  conductor.TakeAnalysis(Check(2));
  conductor.TakeCode(Code("wrong"));
  ExpectNeed(conductor, Kind::kVerify, kVerify);
  EXPECT_EQ(conductor.need().because, "the same code was judged before");
  conductor.TakeVerdict(Failed());
  conductor.TakeAnalysis(Check(2));
  conductor.TakeCode(Code("another"));
  ExpectNeed(conductor, Kind::kCheck, kFixCode);
}

TEST(Conductor, UnreadableCheckIsAskedAgainOnceAndThenPassedOver) {
  Conductor conductor({}, {});
  conductor.TakeCode(Code());
  conductor.TakeCheck(Unreadable());
  ExpectNeed(conductor, Kind::kCheck, kDesign);
  EXPECT_EQ(conductor.need().complaint, "there is no JSON in it.");
  conductor.TakeCheck(Unreadable());
  ExpectNeed(conductor, Kind::kWork, kCode);
}

TEST(Conductor, UnusableReplyIsRepairedWithTheComplaint) {
  Conductor conductor = At(kCode);
  conductor.TakeCode(Unusable());
  ExpectNeed(conductor, Kind::kWork, kFixCode);
  EXPECT_EQ(conductor.need().complaint, "there is no code in it.");
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kCheck, kFixCode);
}

TEST(Conductor, SecondUnusableReplyInARowEndsTheTask) {
  Conductor conductor = At(kCode);
  conductor.TakeCode(Unusable());
  conductor.TakeCode(Unusable());
  ExpectNeed(conductor, Kind::kStop, ActionType::kExit);
  EXPECT_NE(conductor.need().because.find("there is no code in it."), std::string::npos);
}

TEST(Conductor, AnalysisBlamesDesignOrCode) {
  Conductor design = At(kVerify);
  design.TakeVerdict(Failed());
  ExpectNeed(design, Kind::kAnalyze, kVerify);
  EXPECT_EQ(design.need().error_log, "a log");
  design.TakeAnalysis(Check(1));
  ExpectNeed(design, Kind::kWork, kFixDesign);

  Conductor code = At(kVerify);
  code.TakeVerdict(Failed());
  code.TakeAnalysis(Check(2));
  ExpectNeed(code, Kind::kWork, kFixCode);
  EXPECT_EQ(code.need().suggestions, "a suggestion");
  EXPECT_EQ(code.need().error_log, "a log");
}

TEST(Conductor, UnreadableAnalysisIsAskedAgainOnceAndThenTheCodeIsBlamed) {
  Conductor conductor = At(kVerify);
  conductor.TakeVerdict(Failed());
  conductor.TakeAnalysis(Check(7));
  ExpectNeed(conductor, Kind::kAnalyze, kVerify);
  EXPECT_NE(conductor.need().complaint, "");
  conductor.TakeAnalysis(Unreadable());
  ExpectNeed(conductor, Kind::kWork, kFixCode);
  EXPECT_EQ(conductor.need().error_log, "a log");
}

// AIKG's sequence with limit 10 is D C V F V F V F V F: its last repair is never verified.
TEST(Conductor, RepairThatCouldNotBeVerifiedIsNotBegun) {
  Conductor conductor({}, {});
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(1));
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(1));
  for (int i = 0; i < 3; ++i) {
    conductor.TakeVerdict(Failed());
    conductor.TakeAnalysis(Check(2));
    conductor.TakeCode(Code());
    conductor.TakeCheck(Check(1));
  }
  ExpectNeed(conductor, Kind::kVerify, kVerify);
  EXPECT_EQ(conductor.steps(), 9);
  conductor.TakeVerdict(Failed());
  // Not even the analysis: nothing could follow from it.
  ExpectNeed(conductor, Kind::kStop, ActionType::kExit);
  EXPECT_EQ(conductor.steps(), 9);
}

TEST(Conductor, NoCheckWhenNoStepIsLeftForARepair) {
  Conductor conductor({.limit_steps = 3}, {});
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kWork, kCode);
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kVerify, kVerify);
}

TEST(Conductor, DesignIsNotBlamedWhenOnlyARepairOfTheCodeFits) {
  Conductor conductor = At(kVerify, {.limit_steps = 3});
  conductor.TakeVerdict(Failed());
  conductor.TakeAnalysis(Check(1));
  ExpectNeed(conductor, Kind::kWork, kFixCode);
}

TEST(Conductor, CoderOnlyChecksAndAnalyzesNothing) {
  Conductor conductor({.coder_only = true}, {.action = ActionType::kDoCoderDirect});
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kVerify, kVerify);
  conductor.TakeVerdict(Failed("the log"));
  ExpectNeed(conductor, Kind::kWork, kFixCode);
  EXPECT_EQ(conductor.need().error_log, "the log");
  EXPECT_EQ(conductor.need().suggestions, "");
}

TEST(Conductor, WithoutAModelToCheckDesignsGoOn) {
  Conductor conductor({.self_check = false, .analyze_error = false}, {});
  conductor.TakeCode(Code());
  ExpectNeed(conductor, Kind::kWork, kCode);
  conductor.TakeCode(Code());
  conductor.TakeVerdict(Failed());
  ExpectNeed(conductor, Kind::kWork, kFixCode);
}

TEST(Conductor, OldSuggestionsAndLogsDoNotStay) {
  Conductor conductor = At(kVerify, {.limit_steps = 20});
  conductor.TakeVerdict(Failed("old log"));
  conductor.TakeAnalysis(Check(2));
  conductor.TakeCode(Code());
  conductor.TakeCheck({0, "bad", "", ""});
  ExpectNeed(conductor, Kind::kWork, kFixCode);
  EXPECT_EQ(conductor.need().suggestions, "");
  EXPECT_EQ(conductor.need().error_log, "");
}

TEST(Conductor, ProfileGoesOnFromTheBestUntilAPlateau) {
  Conductor conductor = At(kVerify, {.limit_steps = 100, .self_check = false, .improve = true});
  conductor.TakeVerdict(Passed(1.0));
  ExpectNeed(conductor, Kind::kWork, kFixCode);
  EXPECT_TRUE(conductor.need().improve);
  conductor.TakeCode(Code("fast"));
  conductor.TakeVerdict(Passed(2.0));
  EXPECT_EQ(conductor.code(), "fast");
  for (int i = 0; i < 3; ++i) {
    ExpectNeed(conductor, Kind::kWork, kFixCode);
    conductor.TakeCode(Code("slow"));
    conductor.TakeVerdict(Passed(2.01));
    EXPECT_EQ(conductor.reflection().best()->speedup, 2.01);
  }
  ExpectNeed(conductor, Kind::kStop, ActionType::kExit);
  EXPECT_NE(conductor.need().because.find("3 candidates in a row"), std::string::npos);
}

TEST(Conductor, ProfileKeepsTheBestWhenALaterOneFails) {
  Conductor conductor = At(kVerify, {.limit_steps = 4, .analyze_error = false, .improve = true});
  conductor.TakeVerdict(Passed(1.5));
  conductor.TakeCode(Code("broken"));
  if (conductor.need().kind == Kind::kCheck) conductor.TakeCheck(Check(1));
  conductor.TakeVerdict(Failed());
  ExpectNeed(conductor, Kind::kStop, ActionType::kExit);
  ASSERT_NE(conductor.reflection().best(), nullptr);
  EXPECT_EQ(conductor.reflection().best()->code, "given");
}

TEST(Conductor, StopKeepsWhatIsBest) {
  Conductor conductor = At(kVerify, {.improve = true});
  conductor.TakeVerdict(Passed(1.5));
  conductor.Stop("the budget is used up");
  ExpectNeed(conductor, Kind::kStop, ActionType::kExit);
  EXPECT_NE(conductor.reflection().best(), nullptr);
}

TEST(Conductor, CountsHowOftenAnActionWasAskedFor) {
  Conductor conductor = At(kVerify, {.analyze_error = false});
  conductor.TakeVerdict(Failed());
  EXPECT_EQ(conductor.Round(kFixCode), 0);
  conductor.TakeCode(Code());
  conductor.TakeCheck(Check(1));
  conductor.TakeVerdict(Failed());
  EXPECT_EQ(conductor.Round(kFixCode), 1);
}

}  // namespace
}  // namespace kerf::conduct
