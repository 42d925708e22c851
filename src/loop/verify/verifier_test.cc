#include "loop/verify/verifier.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop/verify/candidate_testing.h"

namespace kerf::verify {
namespace {

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

VerifierOptions TestOptions() {
  VerifierOptions options;
  options.cache_dir = TestCacheDir();
  options.resource_dir = KERF_SOURCE_DIR;
  options.runner = KERF_TEST_RUNNER;
  options.call_timeout = std::chrono::seconds(5);
  return options;
}

Verdict Judge(const std::string& source, const Reference& reference) {
  const auto clock = MakeSystemClock();
  FakeIds ids;
  const auto verifier = *Verifier::Make(reference, TestOptions(), *clock, ids);
  return *verifier->Verify({"gelu", "gelu.cc", Impl::kCpp, source});
}

Verdict JudgeBody(const std::string& body) {
  const TestReference reference({64, 33}, Gelu);
  return Judge(KernelText(body), reference.get());
}

std::string Loop(const std::string& expression) {
  return "for (int64_t i = 0; i < n; ++i) out[i] = " + expression + "; return 0;";
}

struct Example {
  const char* name;
  std::string body;
  VerdictStatus status;
  const char* reason;
};

class VerifierVerdict : public testing::TestWithParam<Example> {};

TEST_P(VerifierVerdict, NamesTheCause) {
  const Verdict verdict = JudgeBody(GetParam().body);
  EXPECT_STREQ(VerdictStatusName(verdict.status), VerdictStatusName(GetParam().status))
      << verdict.summary << "\n"
      << verdict.log;
  EXPECT_EQ(verdict.reason, GetParam().reason) << verdict.summary;
}

const std::string kGelu = "0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f))";

INSTANTIATE_TEST_SUITE_P(
    Candidates, VerifierVerdict,
    testing::Values(
        Example{"Honest", Loop(kGelu), VerdictStatus::kPassed, ""},
        Example{"HonestInDouble", Loop("0.5 * x[i] * (1 + std::erf(x[i] * 0.7071067811865476))"),
                VerdictStatus::kPassed, ""},
        Example{"Syntax", "return nothing;", VerdictStatus::kCompileError, "syntax"},
        Example{"Zeros", Loop("0"), VerdictStatus::kWrongValue, "value"},
        Example{"CopyOfTheInput", Loop("x[i]"), VerdictStatus::kWrongValue, "value"},
        Example{"TanhForErf",
                Loop("0.5f * x[i] * (1 + std::tanh(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * "
                     "x[i])))"),
                VerdictStatus::kWrongValue, "value"},
        Example{"Untouched", "return 0;", VerdictStatus::kWrongValue, "untouched"},
        Example{"LastRowMissing",
                "for (int64_t i = 0; i < n - 33; ++i) out[i] = " + kGelu + "; return 0;",
                VerdictStatus::kWrongValue, "partly_untouched"},
        Example{"Nan", Loop("x[i] < 0 ? NAN : " + kGelu), VerdictStatus::kNonFinite, "nan"},
        Example{"Infinity", Loop("i == 7 ? INFINITY : " + kGelu), VerdictStatus::kNonFinite, "inf"},
        Example{"ReturnsAnError", "return 3;", VerdictStatus::kCallError, "returned_error"},
        Example{"Throws", "throw 3;", VerdictStatus::kRuntimeError, "exception"},
        Example{"Exits", "std::exit(0);", VerdictStatus::kRuntimeError, "exited"},
        Example{"Aborts", "std::abort();", VerdictStatus::kRuntimeError, "abort"},
        Example{"NullPointer", "*(volatile int*)8 = 1; return 0;", VerdictStatus::kRuntimeError,
                "segfault"},
        Example{"WritesPastTheEnd",
                "for (int64_t i = 0; i <= n; ++i) out[i] = " + kGelu + "; return 0;",
                VerdictStatus::kRuntimeError, "out_of_bounds_write"},
        Example{"WritesTheInput", "const_cast<float*>(x)[0] = 0; return 0;",
                VerdictStatus::kRuntimeError, "input_write"},
        Example{"StaticCache",
                "static float kept[64 * 33]; static bool have = false; if (!have) { for (int64_t i "
                "= 0; i < n; "
                "++i) kept[i] = " +
                    kGelu + "; have = true; } std::memcpy(out, kept, sizeof kept); return 0;",
                VerdictStatus::kWrongValue, "stale"},
        Example{"WrongOnTheSecondCall",
                "static int calls = 0; ++calls; for (int64_t i = 0; i < n; ++i) out[i] = " + kGelu +
                    " + (calls > 1 ? 1 : 0); return 0;",
                VerdictStatus::kWrongValue, "state"},
        Example{"RunsAProgram", "return std::system(\"true\");", VerdictStatus::kCheat,
                "forbidden_call"}),
    [](const auto& example) { return std::string(example.param.name); });

TEST(Verifier, TellsWhatWasCheckedAndHow) {
  const Verdict verdict = JudgeBody(Loop(kGelu));
  EXPECT_TRUE(verdict.pass_call);
  EXPECT_TRUE(verdict.pass_exe);
  EXPECT_FALSE(verdict.pass_perf.has_value());
  EXPECT_EQ(verdict.cases.size(), 2U);
  EXPECT_EQ(verdict.cases[0].calls, 3);
  EXPECT_LE(verdict.cases[0].outputs.at(0).max_in_budget, 1);
  EXPECT_NE(verdict.build.compiler, "");
  EXPECT_NE(VerdictJson(verdict).find("\"pass_perf\":null"), std::string::npos);
}

TEST(Verifier, TellsAWrongResultFromACallThatDidNotReturn) {
  const Verdict wrong = JudgeBody(Loop("0"));
  EXPECT_TRUE(wrong.pass_call);
  EXPECT_FALSE(wrong.pass_exe);
  EXPECT_EQ(wrong.stage, Stage::kExecute);
  const Verdict aborted = JudgeBody("std::abort();");
  EXPECT_FALSE(aborted.pass_call);
  EXPECT_EQ(aborted.stage, Stage::kCall);
}

TEST(Verifier, ShowsTheWorstMismatchWithItsCoordinates) {
  const Verdict verdict = JudgeBody(Loop("i == 40 ? 100 : " + kGelu));
  EXPECT_EQ(verdict.reason, "value");
  EXPECT_NE(verdict.log.find("[1, 7]: expected "), std::string::npos) << verdict.log;
  EXPECT_NE(verdict.log.find("got 100"), std::string::npos) << verdict.log;
}

TEST(Verifier, StopsWhatHangs) {
  const Verdict verdict = JudgeBody("for (volatile int k = 0;; k = 1) { } return 0;");
  EXPECT_EQ(verdict.status, VerdictStatus::kTimeout);
}

}  // namespace
}  // namespace kerf::verify
