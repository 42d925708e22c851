#include "loop/task/task_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"

namespace kerf::task {
namespace {

using ::testing::HasSubstr;

constexpr const char* kParts =
    "class Model:\n    pass\ndef get_inputs():\n    return []\ndef get_init_inputs():\n    return "
    "[]\n";

std::string With(const std::string& head) { return head + kParts; }

Framework FrameworkOf(const std::string& name, const std::string& text) {
  const auto task = MakeTaskFile(name, With(text));
  EXPECT_TRUE(task.ok()) << task.error().message;
  return task.ok() ? task->framework : Framework::kNumpy;
}

TEST(TaskFile, TakesTheFrameworkFromItsImports) {
  EXPECT_EQ(FrameworkOf("a.py", "import torch\n"), Framework::kTorch);
  EXPECT_EQ(FrameworkOf("a.py", "import torch.nn as nn\n"), Framework::kTorch);
  EXPECT_EQ(FrameworkOf("a.py", "import os, torch\nimport numpy as np\n"), Framework::kTorch);
  EXPECT_EQ(FrameworkOf("a.py", "from mindspore import nn\nimport numpy\n"), Framework::kMindspore);
  EXPECT_EQ(FrameworkOf("a.py", "def f():\n    import numpy as np\n"), Framework::kNumpy);
  EXPECT_EQ(FrameworkOf("a_numpy.py", "import torch\nimport numpy\n"), Framework::kNumpy);
}

TEST(TaskFile, IsNotFooledByCommentsAndStrings) {
  EXPECT_EQ(FrameworkOf("a.py", "# import torch\n'''\nimport torch\n'''\nimport numpy\n"),
            Framework::kNumpy);
  EXPECT_EQ(FrameworkOf("a.py", "x = \"\"\"\\\"\"\"\nimport torch\n\"\"\"\nimport numpy\n"),
            Framework::kNumpy);
  EXPECT_EQ(FrameworkOf("a.py", "x = '\\'  # \\''\nimport torchvision, numpy\n"),
            Framework::kNumpy);
}

TEST(TaskFile, AsksWhenTheFrameworkIsNotClear) {
  EXPECT_THAT(MakeTaskFile("a.py", With("import math\n")).error().message,
              HasSubstr("neither torch, mindspore nor numpy"));
  EXPECT_THAT(MakeTaskFile("a.py", With("import torch, mindspore\n")).error().message,
              HasSubstr("--framework"));
  const auto told = MakeTaskFile("a.py", With(""), Framework::kMindspore);
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->framework, Framework::kMindspore);
}

TEST(TaskFile, NamesMissingPartsInAikgsWords) {
  EXPECT_THAT(MakeTaskFile("a.py", "import torch\n").error().message,
              HasSubstr("Missing required components in task_desc: class Model, function "
                        "get_inputs, function get_init_inputs"));
  const auto one = MakeTaskFile(
      "a.py",
      "import torch\nclass Model: pass\ndef get_inputs(): pass\n  def get_init_inputs(): pass\n");
  EXPECT_THAT(one.error().message, HasSubstr("task_desc: function get_init_inputs"));
}

TEST(TaskFile, SaysWhyAPartThatIsThereIsMissing) {
  const auto indented = MakeTaskFile(
      "a.py",
      "import torch\nclass Model: pass\ndef get_inputs(): pass\n  def get_init_inputs(): pass\n");
  EXPECT_THAT(indented.error().message,
              HasSubstr("; line 4 defines get_init_inputs, but indented"));
  const auto open = MakeTaskFile(
      "a.py", "import torch\nclass Model:\n    \"\"\"A model.\n    pass\ndef get_inputs(): pass\n");
  EXPECT_THAT(open.error().message, HasSubstr("; the string of line 3 is never closed"));
}

TEST(TaskFile, FindsPartsHoweverTheyAreDefined) {
  EXPECT_TRUE(MakeTaskFile("a.py",
                           "import numpy\nfrom x import Model\nget_inputs = f\n"
                           "get_init_inputs: object = f\n")
                  .ok());
  const auto dynamic =
      MakeTaskFile("a.py",
                   "import numpy\nclass Model(object): pass\ndef get_inputs_dyn_list(): pass\ndef "
                   "get_init_inputs(): pass\n");
  ASSERT_TRUE(dynamic.ok()) << dynamic.error().message;
  EXPECT_TRUE(dynamic->dynamic);
}

TEST(TaskFile, NamesTheOperator) {
  EXPECT_EQ(OpName("/a/b/relu_torch.py"), "relu");
  EXPECT_EQ(OpName("exp_add_numpy.py"), "exp_add");
  EXPECT_EQ(OpName("19_ReLU.py"), "ReLU");
  EXPECT_EQ(OpName("1_Square_matrix_multiplication_.py"), "Square_matrix_multiplication");
  EXPECT_EQ(OpName("2d-conv.py"), "op_2d_conv");
  EXPECT_EQ(OpName("123.py"), "op_123");
  EXPECT_EQ(OpName("_torch.py"), "task");
  EXPECT_EQ(OpName("日本.py"), "u65e5_u672c");
  EXPECT_EQ(MakeTaskFile("19_ReLU.py", With("import torch\n"))->ModuleName(), "ReLU_torch.py");
}

TEST(TaskFile, RefusesWhatIsNoSource) {
  FakeFileSystem fs;
  EXPECT_EQ(ReadTaskFile(fs, "missing.py").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(MakeTaskFile("a.py", std::string("import torch\0", 13)).error().message,
              HasSubstr("NUL"));
}

TEST(MaskPython, KeepsLinesAndLengths) {
  const std::string text = "a = 'x\\'y' # c\n\"\"\"1\n2\"\"\"\nb = \"unclosed\nc = 3\n";
  const std::string masked = MaskPython(text);
  EXPECT_EQ(masked.size(), text.size());
  EXPECT_EQ(masked, "a = '    '    \n\"\"\" \n \"\"\"\nb = \"        \nc = 3\n");
}

}  // namespace
}  // namespace kerf::task
