// The text of emitted CUDA kernels for a few graphs. After a wanted change:
//   for d in softmax column_sum pooling; do
//     KERF_IMPL=cuda_c kerf_synth_dump test/golden/synth/$d/graph.json
//     test/golden/synth/$d/kernel.cu
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

class SynthCudaGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(SynthCudaGolden, IsWhatTheGraphGives) {
  const std::string folder = std::string(KERF_GOLDENS) + "/" + GetParam();
  const auto graph = ParseGraph(ReadAll(folder + "/graph.json"));
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  SynthOptions options;
  options.impl = "cuda_c";
  const auto made = Synthesize(*graph, options);
  ASSERT_TRUE(made.ok());
  const auto* kernel = std::get_if<Synthesis>(&*made);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->source, ReadAll(folder + "/kernel.cu"));
}

INSTANTIATE_TEST_SUITE_P(Graphs, SynthCudaGolden,
                         ::testing::Values("softmax", "column_sum", "pooling"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace kerf::synth
