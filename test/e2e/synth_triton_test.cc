// Task → graph → Triton kernels → verdict through Triton's interpreter, for families of operators:
// what the synthesizer writes must pass the verifier, and what it cannot write must be refused by
// name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth_checks.h"

namespace kerf::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TritonFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(TritonFamily, PassesTheVerifier) {
  if (!HasModules("torch, triton")) GTEST_SKIP() << Python() << " has no torch and triton";
  ExpectVerified(SynthTasks() + "/" + GetParam() + ".py", "triton");
}

INSTANTIATE_TEST_SUITE_P(Synth, TritonFamily,
                         ::testing::Values("activations", "attention", "empty", "interpolation",
                                           "losses", "norms", "pooling", "products", "reductions",
                                           "softmaxes", "views"),
                         [](const auto& instance) { return instance.param; });

struct Refused {
  std::string family;
  std::string op;
  std::string reason;
};

class TritonRefusal : public ::testing::TestWithParam<Refused> {};

TEST_P(TritonRefusal, NamesTheOperatorAndWhatToDo) {
  if (!HasModules("torch, triton")) GTEST_SKIP() << Python() << " has no torch and triton";
  auto made = Synthesized(SynthTasks() + "/" + GetParam().family + ".py", "triton");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  ASSERT_NE(refusal, nullptr);
  EXPECT_THAT(refusal->op, StartsWith(GetParam().op));
  EXPECT_GT(refusal->line, 0);
  EXPECT_THAT(refusal->ToString(), HasSubstr(GetParam().reason));
  EXPECT_THAT(refusal->ToString(), HasSubstr("--impl cpp"));
}

INSTANTIATE_TEST_SUITE_P(
    Synth, TritonRefusal,
    ::testing::Values(Refused{"convolutions", "aten.convolution", "a convolution"},
                      Refused{"scans", "aten.cumsum", "a running sum"},
                      Refused{"sorting", "aten.sort", "an algorithm that is no loop"},
                      Refused{"arithmetic", "aten.atan2", "atan2"}),
    [](const auto& instance) { return instance.param.family; });

}  // namespace
}  // namespace kerf::e2e
