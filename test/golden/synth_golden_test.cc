// The text of emitted kernels and designs for a few graphs. After a wanted change:
//   for d in test/golden/synth/*; do kerf_synth_dump $d/graph.json $d/kernel.cc 0 $d/plan.aul; done
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

class SynthGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(SynthGolden, IsWhatTheGraphGives) {
  const std::string folder = std::string(KERF_GOLDENS) + "/" + GetParam();
  const auto graph = ParseGraph(ReadAll(folder + "/graph.json"));
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto made = Synthesize(*graph, {});
  ASSERT_TRUE(made.ok());
  const auto* kernel = std::get_if<Synthesis>(&*made);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->source, ReadAll(folder + "/kernel.cc"));
  EXPECT_EQ(kernel->aul, ReadAll(folder + "/plan.aul"));
}

INSTANTIATE_TEST_SUITE_P(Graphs, SynthGolden,
                         ::testing::Values("softmax", "layernorm", "column_sum", "loss", "pooling"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace kerf::synth
