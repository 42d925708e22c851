// Each group of features by itself; features.cu has the kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "simt/candidate_run.h"

namespace kerf {
namespace {

CandidateRun RunKernel(int which, int64_t outputs, const RunSetup& setup = {}) {
  return RunCandidate(
      std::string(KERF_SIMT_KERNELS) + "/features.so",
      {Ints("which", {which}), Ints("scratch", {0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
      Output("out", Element::kFloat, {outputs}), setup);
}

std::vector<float> Values(int which, int64_t outputs) {
  const CandidateRun run = RunKernel(which, outputs);
  EXPECT_EQ(run.returned, 0);
  EXPECT_EQ(run.exit_code, 0);
  for (const std::string& f : run.findings) ADD_FAILURE() << f;
  return run.output.as<float>();
}

TEST(SimtFeature, VotesMatchesAndReductionsOfAWarp) {
  const auto out = Values(0, 256);
  for (int lane = 0; lane < 32; ++lane) {
    const float* r = &out[lane * 8];
    EXPECT_EQ(r[0], 1);
    EXPECT_EQ(r[1], 0);
    EXPECT_EQ(r[2], 11);
    EXPECT_EQ(r[3], 31 * 16 - 320);
    EXPECT_EQ(r[4], -10);
    EXPECT_EQ(r[5], 4);
    EXPECT_EQ(r[6], lane < 12 ? 12 : 20) << lane;
    EXPECT_EQ(r[7], lane < 12 ? 11 : 31) << lane;
  }
}

TEST(SimtFeature, BarriersThatCount) {
  for (float v : Values(1, 64)) EXPECT_EQ(v, 1600 + 10 + 0);
}

TEST(SimtFeature, CooperativeGroupsInsideABlock) {
  const auto out = Values(2, 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], (i / 8 * 8) * 8 + 28 + 8000 + 1);
}

TEST(SimtFeature, AtomicsAndASpinLock) {
  CandidateRun run = RunKernel(3, 4);
  EXPECT_EQ(run.returned, 0);
  const auto out = run.output.as<float>();
  EXPECT_EQ(out[0], 64.f);
  EXPECT_EQ(out[1], 63.f);
  EXPECT_EQ(out[2], 128.f);
}

TEST(SimtFeature, Mathematics) {
  const auto out = Values(4, 14);
  EXPECT_FLOAT_EQ(out[0], 0.5f);
  EXPECT_FLOAT_EQ(out[1], 0.125f + 1 + 0 + 8);
  EXPECT_FLOAT_EQ(out[2], 1);
  EXPECT_FLOAT_EQ(out[3], 0.5f);
  EXPECT_FLOAT_EQ(out[4], 8 + 31 + 4 + 1);
  EXPECT_FLOAT_EQ(out[5], 2 + 3);
  EXPECT_FLOAT_EQ(out[6], 3 + 2.5f + 2 + 7);
  EXPECT_FLOAT_EQ(out[7], 1);
  EXPECT_FLOAT_EQ(out[8], 2 - 2 + 3 - 3);
  EXPECT_FLOAT_EQ(out[9], 1.25f + 1 + 7);
  EXPECT_FLOAT_EQ(out[10], 0 + 0 + 8 + 1 + 2 + 1);
  EXPECT_FLOAT_EQ(out[11], 1);
  EXPECT_FLOAT_EQ(out[12], 1);
  EXPECT_NEAR(out[13], 0.5f, 1e-6);
}

TEST(SimtFeature, ConstantDeviceAndFileScopeSharedMemory) {
  EXPECT_EQ(Values(5, 8), (std::vector<float>{6, 7, 8, 9, 3, 2, 1, 0}));
}

TEST(SimtFeature, SharedMemoryStartsPoisonedInEveryBlock) {
  EXPECT_EQ(Values(6, 2), (std::vector<float>{1, 1}));
}

TEST(SimtFeature, ParametersAreCopiesOfEachThread) {
  EXPECT_EQ(Values(7, 4), (std::vector<float>{16, 18, 20, 22}));
}

TEST(SimtFeature, GridStrideLoopWithALambda) {
  EXPECT_EQ(Values(8, 8), (std::vector<float>{0, 3, 6, 9, 12, 15, 18, 21}));
}

TEST(SimtFeature, TemplateArgumentsDeducedByTheLaunch) {
  EXPECT_EQ(Values(9, 6), (std::vector<float>{13, 14, 15, 10, 11, 12}));
}

TEST(SimtFeature, AtomicsOnHalfPairsAndBfloat16) {
  const CandidateRun run = RunKernel(10, 4);
  const auto halves = run.output.as<uint16_t>();
  EXPECT_EQ(halves[0], 0x5000);  // 32
  EXPECT_EQ(halves[1], 0x5400);  // 64
  EXPECT_EQ(halves[2], 0x4200);  // 32 as bfloat16
}

TEST(SimtFeature, WarpSynchronousReductionWorksWithAWarning) {
  const CandidateRun run = RunKernel(12, 1);
  EXPECT_EQ(run.returned, 0);
  EXPECT_EQ(run.output.as<float>()[0], 127 * 64.f);
  ASSERT_FALSE(run.findings.empty());
  for (const std::string& f : run.findings)
    EXPECT_NE(f.find("\"kind\":\"implicit_warp_sync\""), std::string::npos) << f;
}

TEST(SimtFeature, RuntimeFunctions) {
  const auto out = Values(11, 8);
  EXPECT_EQ(out[1], 2.5f);
  EXPECT_EQ(out[4], 1);
  EXPECT_EQ(out[5], 1056);
  EXPECT_EQ(out[6], 8);
  EXPECT_EQ(out[7], 1);
  EXPECT_EQ(out[0], 101.f);  // cudaLaunchKernel of one thread: count 1, or 0, and 1
}

}  // namespace
}  // namespace kerf
