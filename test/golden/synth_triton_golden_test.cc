// The text of emitted Triton kernels for a few graphs. After a wanted change:
//   for d in softmax layernorm column_sum linear_gelu; do
//     KERF_IMPL=triton kerf_synth_dump test/golden/synth/$d/graph.json
//     test/golden/synth/$d/kernel.py
//   done
// and look at the difference.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "synth/synthesizer.h"

namespace kerf::synth {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class SynthTritonGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(SynthTritonGolden, IsWhatTheGraphGives) {
  const std::string folder = std::string(KERF_GOLDENS) + "/" + GetParam();
  const auto graph = ParseGraph(ReadAll(folder + "/graph.json"));
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  SynthOptions options;
  options.impl = "triton";
  const auto made = Synthesize(*graph, options);
  ASSERT_TRUE(made.ok());
  const auto* kernel = std::get_if<Synthesis>(&*made);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->source, ReadAll(folder + "/kernel.py"));
}

INSTANTIATE_TEST_SUITE_P(Graphs, SynthTritonGolden,
                         ::testing::Values("softmax", "layernorm", "column_sum", "linear_gelu"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace kerf::synth
