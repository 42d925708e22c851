#include "loop/optimize/case_state.h"

#include <gtest/gtest.h>

namespace kerf::optimize {
namespace {

Rules SomeRules() {
  Rules rules;
  rules.descendants = 2;
  rules.population = 3;
  rules.debug_limit = 2;
  rules.reflect_limit = 1;
  return rules;
}

Trial Failed(int64_t iteration, int64_t line, const std::string& code, Mode mode) {
  Trial trial;
  trial.iteration = iteration;
  trial.line = line;
  trial.code = code;
  trial.mode = mode;
  trial.status = "wrong_value";
  trial.pass_call = true;
  return trial;
}

Trial Right(int64_t iteration, int64_t line, const std::string& code, double speedup = 0) {
  Trial trial = Failed(iteration, line, code, Mode::kImprove);
  trial.correct = trial.pass_exe = true;
  if (speedup > 0) trial.speedup = speedup;
  return trial;
}

std::string Codes(const CaseState& state) {
  std::string text;
  for (const Trial& trial : state.ancestors()) text += trial.code + " ";
  return text;
}

TEST(CaseState, BeginsWithAFirstTryAndReflectsOnTheFirstLines) {
  const CaseState state(SomeRules());
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kFirst);
  EXPECT_TRUE(state.PlanOf(0).reflect);
  EXPECT_FALSE(state.PlanOf(1).reflect);
}

TEST(CaseState, RepairsUpToTheLimitAndThenTriesSomethingElse) {
  CaseState state(SomeRules());
  state.EndIteration({Failed(0, 0, "a", Mode::kFirst), Failed(0, 1, "b", Mode::kFirst)});
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kDebug);
  EXPECT_EQ(state.PlanOf(0).last->code, "a");
  state.EndIteration({Failed(1, 0, "c", Mode::kDebug)});
  EXPECT_EQ(state.repairs(), 1);
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kDebug);
  state.EndIteration({Failed(2, 0, "d", Mode::kDebug)});
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kFresh);
  EXPECT_EQ(state.PlanOf(1).mode, Mode::kDebug);  // each line counts for itself
  state.EndIteration({Failed(3, 0, "e", Mode::kFresh)});
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kDebug);
  EXPECT_EQ(state.repairs(), 0);
}

TEST(CaseState, ImprovesAfterAPassAndWhenRepairsAreUsedUp) {
  CaseState state(SomeRules());
  state.EndIteration({Right(0, 0, "a"), Failed(0, 1, "b", Mode::kFirst)});
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kImprove);
  state.EndIteration({Failed(1, 1, "c", Mode::kDebug)});
  state.EndIteration({Failed(2, 1, "d", Mode::kDebug)});
  EXPECT_EQ(state.PlanOf(1).mode, Mode::kImprove);  // the other line has found something
}

TEST(CaseState, AReplyWithoutCodeIsNothingToRepair) {
  CaseState state(SomeRules());
  state.EndIteration({Failed(0, 0, "", Mode::kFirst)});
  EXPECT_EQ(state.PlanOf(0).mode, Mode::kFirst);
}

TEST(CaseState, NeverLosesTheBest) {
  CaseState state(SomeRules());
  state.EndIteration({Right(0, 0, "best", 3.0)});
  for (int64_t i = 1; i < 20; ++i) {
    state.EndIteration({Right(i, 0, "v" + std::to_string(i), 1 + static_cast<double>(i) / 20),
                        Failed(i, 1, "f" + std::to_string(i), Mode::kDebug)});
    EXPECT_EQ(state.ancestors().front().code, "best");
    EXPECT_LE(state.ancestors().size(), 3U);
  }
  EXPECT_EQ(Codes(state), "best v19 v18 ");
}

TEST(CaseState, RanksMeasuredBeforeUnmeasuredAndKeepsWhatIsAsGood) {
  CaseState state(SomeRules());
  state.EndIteration({Right(0, 0, "unmeasured"), Right(0, 1, "slow", 0.5)});
  EXPECT_EQ(Codes(state), "slow unmeasured ");
  state.EndIteration({Right(1, 0, "as slow", 0.5), Right(1, 1, "slow", 0.7)});
  // The same code measured again counts once, with its better figure.
  EXPECT_EQ(Codes(state), "slow as slow unmeasured ");
  EXPECT_EQ(*state.ancestors().front().speedup, 0.7);
}

TEST(CaseState, DoesNotDependOnTheOrderInWhichVerdictsArrive) {
  CaseState one(SomeRules());
  CaseState other(SomeRules());
  one.EndIteration({Right(0, 0, "a", 1), Right(0, 1, "b", 1)});
  other.EndIteration({Right(0, 1, "b", 1), Right(0, 0, "a", 1)});
  EXPECT_EQ(Codes(one), Codes(other));
  EXPECT_EQ(one.LastExecuted()->code, other.LastExecuted()->code);
}

TEST(CaseState, KnowsWhatCameFurthestAndWhatWasTriedBefore) {
  CaseState state(SomeRules());
  Trial broken = Failed(0, 0, "broken", Mode::kFirst);
  broken.pass_call = false;
  state.EndIteration({broken, Right(0, 1, "right")});
  state.EndIteration({Failed(1, 0, "wrong", Mode::kDebug)});
  EXPECT_EQ(state.LastCalled()->code, "wrong");
  EXPECT_EQ(state.LastExecuted()->code, "right");
  EXPECT_EQ(state.LastCode()->code, "wrong");
  ASSERT_EQ(state.LastRound().size(), 1U);
  EXPECT_EQ(state.Find("broken")->line, 0);
  EXPECT_EQ(state.Find("new"), nullptr);
  EXPECT_EQ(state.Find(""), nullptr);
}

}  // namespace
}  // namespace kerf::optimize
