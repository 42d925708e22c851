// Task → graph → Triton kernels → verdict through Triton's interpreter, for families of operators:
// what the synthesizer writes must pass the verifier, and what it cannot write must be refused by
// name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/subprocess.h"
#include "synth/synthesizer.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kTasks = kSource + "/test/data/synth";

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::string Python() { return Variable("KERF_PYTHON", kSource + "/.venv/bin/python"); }

bool HasTriton() {
  static const bool has = [] {
    const auto outcome = RunProcess({.argv = {Python(), "-c", "import torch, triton"}});
    return outcome.ok() && outcome->exit_code == 0;
  }();
  return has;
}

// One cache for all tests.
TempDir& Cache() {
  static TempDir cache;
  return cache;
}

ProcessOutcome Kerf(std::vector<std::string> words) {
  words.insert(words.begin(), KERF_BINARY);
  const auto outcome =
      RunProcess({.argv = std::move(words),
                  .environment = {{"PATH=" + Variable("PATH", "/usr/bin:/bin"),
                                   "KERF_PYTHON=" + Python(), "KERF_CACHE_DIR=" + Cache().path()}},
                  .timeout = std::chrono::seconds(200)});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : ProcessOutcome{};
}

// The graph as `kerf task graph --json` prints it: one line.
Result<std::variant<synth::Synthesis, synth::Refusal>> Made(const std::string& task) {
  const ProcessOutcome shown = Kerf({"task", "graph", "--json", task});
  EXPECT_EQ(shown.exit_code, 0) << shown.stderr_text << shown.stdout_text.substr(0, 500);
  KERF_ASSIGN_OR_RETURN(const Graph graph, ParseGraph(shown.stdout_text));
  synth::SynthOptions options;
  options.impl = "triton";
  return synth::Synthesize(graph, options);
}

class TritonFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(TritonFamily, PassesTheVerifier) {
  if (!HasTriton()) GTEST_SKIP() << Python() << " has no torch and triton";
  const std::string task = kTasks + "/" + GetParam() + ".py";
  auto made = Made(task);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  ASSERT_EQ(refusal, nullptr) << refusal->ToString();
  TempDir dir;
  const std::string kernel = dir.path() + "/kernel.py";
  std::ofstream(kernel) << std::get<synth::Synthesis>(*made).source;
  const ProcessOutcome verdict = Kerf({"verify", task, kernel, "--impl", "triton"});
  EXPECT_THAT(verdict.stdout_text, StartsWith("passed")) << verdict.stderr_text;
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
  if (!HasTriton()) GTEST_SKIP() << Python() << " has no torch and triton";
  auto made = Made(kTasks + "/" + GetParam().family + ".py");
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
