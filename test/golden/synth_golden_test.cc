// The text of emitted kernels and designs for a few graphs. After a wanted change, for each file F
// of a folder D: KERF_IMPL=cpp|cuda_c|triton kerf_synth_dump D/graph.json D/F [0 D/plan.aul], and
// look at the difference.
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

struct Golden {
  const char* graph;
  const char* impl;
  const char* file;
};

class SynthGolden : public ::testing::TestWithParam<Golden> {};

TEST_P(SynthGolden, IsWhatTheGraphGives) {
  const auto& [name, impl, file] = GetParam();
  const std::string folder = std::string(KERF_GOLDENS) + "/" + name;
  const auto graph = ParseGraph(ReadAll(folder + "/graph.json"));
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  SynthOptions options;
  options.impl = impl;
  const auto made = Synthesize(*graph, options);
  ASSERT_TRUE(made.ok());
  const auto* kernel = std::get_if<Synthesis>(&*made);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->source, ReadAll(folder + "/" + file));
  if (options.impl != "cpp") return;
  EXPECT_EQ(kernel->aul, ReadAll(folder + "/plan.aul"));
}

std::vector<Golden> Goldens() {
  std::vector<Golden> goldens;
  for (const char* graph : {"softmax", "layernorm", "column_sum", "loss", "pooling"}) {
    goldens.push_back({graph, "cpp", "kernel.cc"});
  }
  for (const char* graph : {"softmax", "column_sum", "pooling"}) {
    goldens.push_back({graph, "cuda_c", "kernel.cu"});
  }
  for (const char* graph : {"softmax", "layernorm", "column_sum", "linear_gelu"}) {
    goldens.push_back({graph, "triton", "kernel.py"});
  }
  return goldens;
}

INSTANTIATE_TEST_SUITE_P(Graphs, SynthGolden, ::testing::ValuesIn(Goldens()),
                         [](const auto& instance) {
                           return std::string(instance.param.graph) + "_" + instance.param.impl;
                         });

}  // namespace
}  // namespace kerf::synth
