#include "loop/verify/inline_extension.h"

#include <gtest/gtest.h>

namespace kerf::verify {
namespace {

TEST(InlineExtension, TakesTheStringOutOfTheFile) {
  const auto found = FindInlineExtension(
      "import torch\n"
      "from torch.utils.cpp_extension import load_inline\n"
      "# cpp_source = \"not this\"\n"
      "cpp_source = \"\"\"\n#include <torch/extension.h>\nchar c = '\\\\n'; // it's\n"
      "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n\"\"\"\n"
      "module = load_inline(name=\"m\", cpp_sources=cpp_source, extra_cflags=[\"-O3\"])\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->line, 4);
  EXPECT_EQ(found->source,
            "\n#include <torch/extension.h>\nchar c = '\\n'; // it's\n"
            "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n\n");
}

TEST(InlineExtension, JoinsListsAndBindsFunctions) {
  const auto found = FindInlineExtension(
      "a = r'''torch::Tensor f(torch::Tensor x);'''\n"
      "b = '''__global__ void k() {}'''\n"
      "m = load_inline('m', [a], cuda_sources=[b], functions=['f', 'g'], with_cuda=True)\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->source,
            "#include <torch/extension.h>\n"
            "torch::Tensor f(torch::Tensor x);\n__global__ void k() {}\n\n"
            "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
            "  m.def(\"f\", &f);\n  m.def(\"g\", &g);\n}\n");
}

TEST(InlineExtension, LeavesOthersAlone) {
  EXPECT_FALSE(FindInlineExtension("#include <torch/extension.h>\n").has_value());
  EXPECT_FALSE(FindInlineExtension("// load_inline is not called here\n").has_value());
  EXPECT_FALSE(FindInlineExtension("").has_value());
}

TEST(InlineExtension, ComputedStringsGiveNoSource) {
  const auto found = FindInlineExtension("m = load_inline('m', cpp_sources=f'{x}')\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->source, "");
}

TEST(InlineExtension, CutTextsEnd) {
  const std::string text =
      "s = \"\"\"a\\\nb\"\"\"\nload_inline(name='m', cpp_sources=[s, 'x\\\\'])";
  for (size_t n = 0; n <= text.size(); ++n) (void)FindInlineExtension(text.substr(0, n));
}

}  // namespace
}  // namespace kerf::verify
