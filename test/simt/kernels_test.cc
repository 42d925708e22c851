// Whole kernels, as candidates look, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "simt/candidate_run.h"
#include "simt/half_reference.h"

namespace kerf {
namespace {

std::string Library(const std::string& name) {
  return std::string(KERF_SIMT_KERNELS) + "/" + name + ".so";
}

std::vector<float> Random(size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> value(-2.f, 2.f);
  std::vector<float> v(n);
  for (float& x : v) x = value(engine);
  return v;
}

void ExpectNear(const CandidateRun& run, const std::vector<double>& want, double tolerance) {
  EXPECT_EQ(run.returned, 0);
  EXPECT_TRUE(run.findings.empty()) << run.findings[0];
  const auto got = run.output.as<float>();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
}

TEST(SimtKernel, MatmulWithRaggedTiles) {
  const int m = 37, k = 50, n = 29;
  const auto a = Random(m * k, 1);
  const auto b = Random(k * n, 2);
  std::vector<double> want(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int q = 0; q < k; ++q)
        want[i * n + j] += static_cast<double>(a[i * k + q]) * b[q * n + j];
    }
  }
  for (int threads : {1, 2}) {
    ExpectNear(RunCandidate(Library("matmul"), {Floats("a", {m, k}, a), Floats("b", {k, n}, b)},
                            Output("c", Element::kFloat, {m, n}), {.threads = threads}),
               want, 1e-4);
  }
}

TEST(SimtKernel, ReluOverManyBlocks) {
  const auto x = Random(10'001, 3);
  std::vector<double> want;
  for (float v : x) want.push_back(std::max(v, 0.f));
  ExpectNear(RunCandidate(Library("relu"), {Floats("x", {10'001}, x)},
                          Output("y", Element::kFloat, {10'001})),
             want, 0);
}

TEST(SimtKernel, SoftmaxByShuffles) {
  const int rows = 5, cols = 300;
  const auto x = Random(rows * cols, 4);
  std::vector<double> want(x.size());
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(x[r * cols + c]);
    for (int c = 0; c < cols; ++c) want[r * cols + c] = std::exp(x[r * cols + c]) / sum;
  }
  ExpectNear(RunCandidate(Library("softmax"), {Floats("x", {rows, cols}, x)},
                          Output("y", Element::kFloat, {rows, cols})),
             want, 1e-6);
}

TEST(SimtKernel, LayernormInDynamicSharedMemory) {
  const int rows = 4, cols = 260;
  const auto x = Random(rows * cols, 5);
  std::vector<double> want(x.size());
  for (int r = 0; r < rows; ++r) {
    double mean = 0, squares = 0;
    for (int c = 0; c < cols; ++c) mean += x[r * cols + c] / static_cast<double>(cols);
    for (int c = 0; c < cols; ++c)
      squares += (x[r * cols + c] - mean) * (x[r * cols + c] - mean) / cols;
    for (int c = 0; c < cols; ++c)
      want[r * cols + c] = (x[r * cols + c] - mean) / std::sqrt(squares + 1e-5);
  }
  ExpectNear(RunCandidate(Library("layernorm"), {Floats("x", {rows, cols}, x)},
                          Output("y", Element::kFloat, {rows, cols})),
             want, 1e-5);
}

TEST(SimtKernel, HistogramByAtomics) {
  const auto x = Random(5000, 6);
  std::vector<int> want(64);
  for (float v : x) ++want[std::min(63, std::max(0, static_cast<int>((v + 2.f) * 16.f)))];
  for (int threads : {1, 3}) {
    const auto run = RunCandidate(Library("histogram"), {Floats("x", {5000}, x)},
                                  Output("bins", Element::kInt, {64}), {.threads = threads});
    EXPECT_EQ(run.returned, 0);
    EXPECT_TRUE(run.findings.empty());
    EXPECT_EQ(run.output.as<int>(), want);
  }
}

TEST(SimtKernel, TransposeLaunchedByAMacro) {
  const int rows = 45, cols = 70;
  const auto x = Random(rows * cols, 7);
  std::vector<double> want(x.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) want[c * rows + r] = x[r * cols + c];
  }
  ExpectNear(RunCandidate(Library("transpose"), {Floats("x", {rows, cols}, x)},
                          Output("y", Element::kFloat, {cols, rows})),
             want, 0);
}

TEST(SimtKernel, ScanInThreeKernelsWithAWorkspace) {
  const int n = 70'000;
  const auto x = Random(n, 8);
  std::vector<double> want(n);
  double sum = 0;
  for (int i = 0; i < n; ++i) want[i] = sum += x[i];
  ExpectNear(
      RunCandidate(Library("scan"), {Floats("x", {n}, x)}, Output("y", Element::kFloat, {n})), want,
      5e-3);
}

TEST(SimtKernel, AttentionWithOnlineSoftmax) {
  const int tokens = 41, d = 32;
  const auto q = Random(tokens * d, 9);
  const auto k = Random(tokens * d, 10);
  const auto v = Random(tokens * d, 11);
  std::vector<double> want(tokens * d);
  for (int i = 0; i < tokens; ++i) {
    std::vector<double> p(tokens);
    double total = 0;
    for (int j = 0; j < tokens; ++j) {
      double s = 0;
      for (int c = 0; c < d; ++c) s += static_cast<double>(q[i * d + c]) * k[j * d + c];
      total += p[j] = std::exp(s / std::sqrt(32.0));
    }
    for (int j = 0; j < tokens; ++j) {
      for (int c = 0; c < d; ++c) want[i * d + c] += p[j] / total * v[j * d + c];
    }
  }
  ExpectNear(RunCandidate(Library("attention"),
                          {Floats("q", {tokens, d}, q), Floats("k", {tokens, d}, k),
                           Floats("v", {tokens, d}, v)},
                          Output("y", Element::kFloat, {tokens, d})),
             want, 1e-5);
}

TEST(SimtKernel, HipBlockSumWithWavefrontsOf64) {
  const auto x = Random(1000, 12);
  double sum = 0;
  for (float v : x) sum += 2.0 * v;
  ExpectNear(RunCandidate(Library("block_sum"), {Floats("x", {1000}, x)},
                          Output("y", Element::kFloat, {2})),
             {sum, 32}, 1e-3);
}

TEST(SimtKernel, HalfPairsRoundOnce) {
  const auto x = Random(1001, 13);
  std::vector<uint16_t> halves;
  for (float v : x) halves.push_back(NearestHalf(v));
  Buffer in = Output("x", Element::kHalf, {1001});
  std::memcpy(in.bytes.data(), halves.data(), in.bytes.size());
  const auto run = RunCandidate(Library("half2_gelu"), {in}, Output("y", Element::kHalf, {1001}));
  EXPECT_EQ(run.returned, 0);
  const auto got = run.output.as<uint16_t>();
  for (size_t i = 0; i < halves.size(); ++i) {
    const auto f =
        static_cast<float>(HalfToDouble(NearestHalf(HalfToDouble(halves[i]) * 1.5 + 0.25)));
    const double want = 0.5f * f * (1.f + std::erf(f * 0.70710678f));
    ASSERT_NEAR(HalfToDouble(got[i]), want, 1e-3 * std::fabs(want) + 1e-6) << "element " << i;
  }
}

}  // namespace
}  // namespace kerf
