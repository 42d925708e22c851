// Task → graph → CUDA kernel → verdict through the CPU emulation, for families of operators: what
// the synthesizer writes must pass the verifier, and what it cannot write must be refused by name.
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

bool HasTorch() {
  static const bool has = [] {
    const auto outcome = RunProcess({.argv = {Python(), "-c", "import torch"}});
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
  options.impl = "cuda_c";
  return synth::Synthesize(graph, options);
}

class CudaFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaFamily, PassesTheVerifier) {
  if (!HasTorch()) GTEST_SKIP() << Python() << " has no torch";
  const std::string task = kTasks + "/" + GetParam() + ".py";
  auto made = Made(task);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  ASSERT_EQ(refusal, nullptr) << refusal->ToString();
  TempDir dir;
  const std::string kernel = dir.path() + "/kernel.cu";
  std::ofstream(kernel) << std::get<synth::Synthesis>(*made).source;
  const ProcessOutcome verdict =
      Kerf({"verify", task, kernel, "--impl", "cuda_c", "--backend", "cpu"});
  EXPECT_THAT(verdict.stdout_text, StartsWith("passed")) << verdict.stderr_text;
}

INSTANTIATE_TEST_SUITE_P(Synth, CudaFamily,
                         ::testing::Values("activations", "arithmetic", "chains", "convolutions",
                                           "empty", "float16", "indexing", "integers", "losses",
                                           "norms", "pooling", "products", "reductions", "scans",
                                           "softmaxes", "sorting", "special_values", "views"),
                         [](const auto& instance) { return instance.param; });

TEST(CudaRefusal, NamesTheOperatorAndWhatToDo) {
  if (!HasTorch()) GTEST_SKIP() << Python() << " has no torch";
  TempDir dir;
  const std::string task = dir.path() + "/sort_torch.py";
  std::ofstream(task)
      << "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
         "        return torch.sort(x)[0]\n\n\ndef get_inputs():\n"
         "    return [torch.rand(100000)]\n\n\ndef get_init_inputs():\n    return []\n";
  auto made = Made(task);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  ASSERT_NE(refusal, nullptr);
  EXPECT_THAT(refusal->op, StartsWith("aten.sort"));
  EXPECT_EQ(refusal->line, 6);
  EXPECT_THAT(refusal->ToString(), HasSubstr("4096 elements"));
  EXPECT_THAT(refusal->ToString(), HasSubstr("--impl cpp"));
}

}  // namespace
}  // namespace kerf::e2e
