#include "loop/conduct/reflection.h"

#include <gtest/gtest.h>

namespace kerf::conduct {
namespace {

Attempt Failure(int64_t step, const std::string& status, const std::string& summary) {
  Attempt attempt;
  attempt.step = step;
  attempt.status = status;
  attempt.summary = summary;
  attempt.strategy = "strategy " + std::to_string(step);
  return attempt;
}

Attempt Pass(int64_t step, std::optional<double> speedup) {
  Attempt attempt;
  attempt.step = step;
  attempt.passed = true;
  attempt.status = "passed";
  attempt.speedup = speedup;
  attempt.code = "code " + std::to_string(step);
  return attempt;
}

TEST(Reflection, BestIsTheFastestThatPassed) {
  Reflection reflection;
  EXPECT_EQ(reflection.best(), nullptr);
  reflection.Add(Failure(2, "wrong_value", "x"));
  EXPECT_EQ(reflection.best(), nullptr);
  reflection.Add(Pass(4, 1.5));
  reflection.Add(Pass(6, 1.2));
  EXPECT_EQ(reflection.best()->step, 4);
  reflection.Add(Pass(8, 1.7));
  EXPECT_EQ(reflection.best()->step, 8);
}

TEST(Reflection, EqualFailuresAreToldOnceWithTheirNumber) {
  Reflection reflection;
  reflection.Add(Failure(3, "compile_error", "no such header"));
  reflection.Add(Failure(5, "wrong_value", "row 3"));
  reflection.Add(Failure(7, "compile_error", "no such header"));
  const std::string text = reflection.Text(10'000, true);
  EXPECT_EQ(text,
            "- Step 7: compile_error (2 times): no such header; tried: strategy 7\n"
            "- Step 5: wrong_value: row 3; tried: strategy 5\n");
}

TEST(Reflection, KeepsItsBudgetAndTellsTheBestFirst) {
  Reflection reflection;
  reflection.Add(Pass(2, 1.25));
  for (int i = 0; i < 50; ++i) {
    reflection.Add(Failure(3 + i, "wrong_value", "failure number " + std::to_string(i)));
  }
  const std::string text = reflection.Text(400, true);
  EXPECT_LE(text.size(), 400U);
  EXPECT_EQ(text.find("- Best so far (step 2): passed, 1.250x"), 0U);
  EXPECT_NE(text.find("code 2"), std::string::npos);
  EXPECT_NE(text.find("failure number 49"), std::string::npos);
  EXPECT_EQ(text.find("failure number 0;"), std::string::npos);
}

TEST(Reflection, ShortenKeepsBothEnds) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += "line " + std::to_string(i) + "\n";
  const std::string text = Shorten(log, 300);
  EXPECT_LT(text.size(), 400U);
  EXPECT_EQ(text.find("line 0\n"), 0U);
  EXPECT_NE(text.find("line 999"), std::string::npos);
  EXPECT_NE(text.find("bytes left out"), std::string::npos);
  EXPECT_EQ(Shorten("short", 300), "short");
}

}  // namespace
}  // namespace kerf::conduct
