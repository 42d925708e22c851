#include "loop/optimize/data_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace kerf::optimize {
namespace {

using ::testing::HasSubstr;

class DataCase : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(DataCase, ReadsRecordsInTheirOrderWithWhatNobodyKnows) {
  const std::string jsonl = Write(
      "set_0.jsonl",
      R"({"instruction":"do b","label":"import triton","filename":"b.py","test_code":"t","difficulty":3,"x":{"y":[NaN]}})"
      "\n"
      R"({"prompt":"do a","label":"L","file":"a/../c.py","predict":"#include <x>","target_kernel_name":"k"})"
      "\n");
  const std::string mem = Write("set_mem_0.json", R"({"b.py":{"oneshot":"shot"}})");
  const Result<DataSet> data = ReadDataSet(jsonl, mem);
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_EQ(data->cases.size(), 2U);
  const Case& b = data->cases[0];
  EXPECT_EQ(b.name, "b.py");
  EXPECT_EQ(b.folder, "b");
  EXPECT_EQ(b.oneshot, "shot");
  ASSERT_EQ(b.others.size(), 2U);
  EXPECT_EQ(b.others[0], (std::pair<std::string, std::string>("difficulty", "3")));
  EXPECT_EQ(b.GuessImpl(), Impl::kTriton);
  const Case& a = data->cases[1];
  EXPECT_TRUE(a.named_by_file);
  EXPECT_EQ(a.folder.find('/'), std::string::npos);
  EXPECT_EQ(a.instruction, "do a");
  EXPECT_EQ(a.oneshot, "L");
  EXPECT_EQ(a.GuessImpl(), Impl::kTorchExt);
  EXPECT_FALSE(data->sha256.empty());
}

TEST_F(DataCase, OfOneNameTwiceTheLastCountsAndIsReported) {
  const std::string jsonl = Write("twice_0.jsonl",
                                  "{\"filename\":\"a.py\",\"label\":\"1\"}\n"
                                  "{\"filename\":\"a.py\",\"label\":\"2\"}\n");
  const Result<DataSet> data = ReadDataSet(jsonl, "");
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->cases.size(), 1U);
  EXPECT_EQ(data->cases[0].label, "2");
  EXPECT_GT(data->problems.count(), 0U);
}

TEST_F(DataCase, RefusesWhatHoldsNoCase) {
  EXPECT_EQ(ReadDataSet(Write("empty_0.jsonl", ""), "").error().code, ErrorCode::kCorrupt);
  const Result<DataSet> broken = ReadDataSet(Write("broken_0.jsonl", "not json\n"), "");
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error().message, HasSubstr("broken_0.jsonl"));
}

TEST_F(DataCase, NamesOfTheTraceItselfAreNoFolders) {
  const Result<DataSet> data =
      ReadDataSet(Write("names_0.jsonl", "{\"filename\":\"passed_cases\",\"label\":\"x\"}\n"), "");
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->cases[0].folder, "_passed_cases");
}

TEST(Signatures, AreThoseOfFunctionsThatAreNoKernels) {
  const std::string source =
      "import triton\n"
      "@triton.autotune(\n    configs=[triton.Config({'B': 1})],\n    key=['n'])\n"
      "@triton.jit\n"
      "def kernel(x, n: tl.constexpr):\n    pass\n"
      "@torch.no_grad()\n"
      "def scale(\n    x: torch.Tensor,\n    by: float = 2.0,\n) -> torch.Tensor:\n"
      "    def inner(a): return a\n"
      "    return x\n"
      "def other(a, b={1: 2}): pass\n";
  EXPECT_EQ(Signatures(source),
            "def scale( x: torch.Tensor, by: float = 2.0, ) -> torch.Tensor\n"
            "def other(a, b={1: 2})\n");
}

}  // namespace
}  // namespace kerf::optimize
