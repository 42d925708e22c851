// Task → graph → CUDA kernel → verdict through the CPU emulation, for families of operators: what
// the synthesizer writes must pass the verifier, and what it cannot write must be refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "synth_checks.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CudaFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaFamily, PassesTheVerifier) {
  if (!HasModules("torch")) GTEST_SKIP() << Python() << " has no torch";
  ExpectVerified(SynthTasks() + "/" + GetParam() + ".py", "cuda_c");
}

INSTANTIATE_TEST_SUITE_P(Synth, CudaFamily,
                         ::testing::Values("activations", "arithmetic", "chains", "convolutions",
                                           "empty", "float16", "indexing", "integers", "losses",
                                           "numbers", "norms", "pooling", "products", "reductions",
                                           "scans", "softmaxes", "sorting", "special_values",
                                           "views"),
                         [](const auto& instance) { return instance.param; });

TEST(CudaRefusal, NamesTheOperatorAndWhatToDo) {
  if (!HasModules("torch")) GTEST_SKIP() << Python() << " has no torch";
  TempDir dir;
  const std::string task = dir.path() + "/sort_torch.py";
  std::ofstream(task)
      << "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
         "        return torch.sort(x)[0]\n\n\ndef get_inputs():\n"
         "    return [torch.rand(100000)]\n\n\ndef get_init_inputs():\n    return []\n";
  auto made = Synthesized(task, "cuda_c");
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
