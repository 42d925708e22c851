// Task → graph → kernel → verdict, for every family of operators: what the synthesizer writes must
// pass the verifier, and what it cannot write must be refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "synth_checks.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using ::testing::HasSubstr;

class SynthesizedFamily : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!HasModules("torch")) GTEST_SKIP() << Python() << " has no torch";
  }
};

TEST_P(SynthesizedFamily, PassesTheVerifier) {
  ExpectVerified(SynthTasks() + "/" + GetParam() + ".py", "cpp");
}

INSTANTIATE_TEST_SUITE_P(Synth, SynthesizedFamily, ::testing::ValuesIn(SynthFamilies()),
                         [](const auto& instance) { return instance.param; });

// ---- MindSpore ----

class SynthesizedMindspore : public ::testing::TestWithParam<const char*> {};

TEST_P(SynthesizedMindspore, PassesTheVerifier) {
  if (!HasModules("mindspore", MindsporePython())) {
    GTEST_SKIP() << MindsporePython() << " has no mindspore";
  }
  ExpectVerified(std::string(KERF_SOURCE_DIR) + "/examples/tasks/" + GetParam() + "_mindspore.py",
                 "cpp");
}

INSTANTIATE_TEST_SUITE_P(Synth, SynthesizedMindspore,
                         ::testing::Values("attention", "conv_bn_relu", "cross_entropy", "gelu_add",
                                           "layernorm_dense", "matmul", "softmax"),
                         [](const auto& instance) { return std::string(instance.param); });

// ---- random graphs ----

// Straight-line programs over one pool of tensors of shape [r, c] or [r, 1].
class RandomTask {
 public:
  explicit RandomTask(uint32_t seed) : random_(seed) {}

  std::string Text() {
    const int rows = Pick({1, 3, 7, 16, 33});
    const int cols = Pick({1, 5, 16, 31, 64, 130});
    std::string body;
    std::vector<std::string> full = {"x", "y"};
    const int count = 1 + static_cast<int>(random_() % 12);
    for (int i = 0; i < count; ++i) {
      const std::string name = "t" + std::to_string(i);
      body += "        " + name + " = " + Step(full, rows, cols) + "\n";
      full.push_back(name);
    }
    const std::string size = std::to_string(rows) + ", " + std::to_string(cols);
    return "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def "
           "forward(self, x, y):\n" +
           body + "        return " + full.back() + ", " + full[full.size() / 2] +
           // Whatever chance chose, both inputs count: else the task could not tell right from
           // wrong.
           " + 0, x * 2 + y\n\n\ndef get_inputs():\n    return [torch.randn(" + size +
           "), torch.randn(" + size + ")]\n\n\ndef get_init_inputs():\n    return []\n";
  }

 private:
  int Pick(const std::vector<int>& values) { return values[random_() % values.size()]; }

  std::string Step(const std::vector<std::string>& pool, int rows, int cols) {
    const std::string a = pool[random_() % pool.size()];
    const std::string b = pool[random_() % pool.size()];
    const std::string square =
        "(" + a + " @ " + b + ".t()) @ " + b + " / " + std::to_string(rows + cols);
    const std::vector<std::string> steps = {
        a + " + " + b,
        a + " * 0.5 - " + b,
        a + " * torch.sigmoid(" + b + ")",
        "torch.tanh(" + a + ")",
        "torch.relu(" + a + ") + " + b,
        "torch.softmax(" + a + ", 1)",
        "torch.softmax(" + a + ", 0) * " + b,
        a + " - " + a + ".mean(1, keepdim=True)",
        a + " / (1 + " + b + ".abs().sum(0, keepdim=True))",
        a + " - " + b + ".amax(1, keepdim=True)",
        "torch.cumsum(" + a + ", 1) / " + std::to_string(cols),
        a + ".flip(0) + " + b,
        "torch.cat([" + a + "[:, 1:], " + b + "[:, :1]], 1)",
        a + ".t().reshape(" + std::to_string(rows) + ", " + std::to_string(cols) + ") * 2",
        "torch.where(" + a + " > " + b + ", " + a + ", " + b + " * 0.1)",
        "torch.nn.functional.layer_norm(" + a + ", (" + std::to_string(cols) + ",), eps=0.1)",
        square,
        "torch.roll(" + a + ", 1, 0)",
        a + " * " + b + ".var(1, keepdim=True, correction=0)",
        "torch.clamp(" + a + ", -1, 1)",
    };
    return steps[random_() % steps.size()];
  }

  std::mt19937 random_;
};

class SynthesizedRandomGraph : public ::testing::TestWithParam<uint32_t> {};

TEST_P(SynthesizedRandomGraph, PassesTheVerifier) {
  if (!HasModules("torch")) GTEST_SKIP() << Python() << " has no torch";
  TempDir dir;
  const std::string task = dir.path() + "/random_torch.py";
  const std::string text = RandomTask(GetParam()).Text();
  std::ofstream(task) << text;
  SCOPED_TRACE(text);
  ExpectVerified(task, "cpp");
}

INSTANTIATE_TEST_SUITE_P(Synth, SynthesizedRandomGraph, ::testing::Range(1U, 13U));

// ---- refusals ----

TEST(SynthesizedRefusal, NamesTheOperatorAndItsLine) {
  if (!HasModules("torch")) GTEST_SKIP() << Python() << " has no torch";
  TempDir dir;
  const std::string task = dir.path() + "/i0_torch.py";
  std::ofstream(task)
      << "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
         "        return torch.i0(x)\n\n\ndef get_inputs():\n"
         "    return [torch.rand(4, 4)]\n\n\ndef get_init_inputs():\n    return []\n";
  auto made = Synthesized(task, "cpp");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->op, "aten.i0.default");
  EXPECT_EQ(refusal->line, 6);
  EXPECT_THAT(refusal->ToString(), HasSubstr("torch.i0(x)"));
  EXPECT_THAT(refusal->ToString(), HasSubstr("model"));
}

}  // namespace
}  // namespace kerf::e2e
