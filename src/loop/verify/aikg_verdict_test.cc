#include "loop/verify/aikg_verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop/verify/verify_testing.h"

namespace kerf::verify {
namespace {

constexpr auto kSeed = AikgGeneration::kSeed;
constexpr auto kHead = AikgGeneration::kHead;
constexpr auto kTorch = AikgFramework::kTorch;
constexpr auto kNumpy = AikgFramework::kNumpy;

// Of 1000 ones, `bad` are off by a relative `error`.
AikgVerdict Off(DType dtype, int64_t bad, double error, AikgGeneration generation,
                AikgFramework framework = kTorch, double base = 1) {
  const OwnedTensor reference(dtype, {1000}, std::vector<double>(1000, base));
  OwnedTensor candidate = reference;
  for (int64_t i = 0; i < bad; ++i) candidate.Set(i, base * (1 + error));
  return MakeAikgVerdict(reference.view(), candidate.view(), generation, framework);
}

TEST(AikgVerdict, OneLimitForTheErrorAndForTheShare) {
  EXPECT_TRUE(Off(DType::kFloat32, 4, 0.5, kSeed).passed);
  EXPECT_FALSE(Off(DType::kFloat32, 5, 0.5, kSeed).passed);
  EXPECT_TRUE(Off(DType::kFloat32, 1000, 0.0039, kSeed).passed);
  EXPECT_FALSE(Off(DType::kFloat32, 1000, 0.0045, kSeed).passed);
  EXPECT_TRUE(Off(DType::kBFloat16, 30, 0.5, kSeed).passed);
  EXPECT_FALSE(Off(DType::kBFloat16, 31, 0.5, kSeed).passed);
  EXPECT_TRUE(Off(DType::kFloat16, 4, 0.5, kHead).passed);
  EXPECT_FALSE(Off(DType::kFloat16, 5, 0.5, kHead).passed);
  EXPECT_TRUE(Off(DType::kInt8, 10, 1, kSeed, kTorch, 10).passed);
  EXPECT_FALSE(Off(DType::kInt8, 11, 1, kSeed, kTorch, 10).passed);
}

TEST(AikgVerdict, HeadIsWiderForTorchOnly) {
  EXPECT_TRUE(Off(DType::kFloat32, 20, 0.5, kHead).passed);
  EXPECT_FALSE(Off(DType::kFloat32, 21, 0.5, kHead).passed);
  EXPECT_FALSE(Off(DType::kFloat32, 20, 0.5, kHead, kNumpy).passed);
  EXPECT_FALSE(Off(DType::kInt32, 5, 1, kHead, AikgFramework::kMindspore, 10).passed);
}

TEST(AikgVerdict, SeedDividesByTheCandidate) {
  const OwnedTensor reference(DType::kFloat32, {2}, {1, 0});
  // |1 - 0| / 0 is infinite; 0 / 0 is NaN, which is never bad.
  const OwnedTensor zeros(DType::kFloat32, {2}, {0, 0});
  const AikgVerdict verdict = MakeAikgVerdict(reference.view(), zeros.view(), kSeed, kTorch);
  EXPECT_EQ(verdict.error_count, 1);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.message,
            "验证失败: err_cnt = 1 / 0，输出不一致（dtype=torch.float32, limit=0.004）");
  const OwnedTensor nan(DType::kFloat32, {2}, {std::nan(""), std::nan("")});
  EXPECT_TRUE(MakeAikgVerdict(reference.view(), nan.view(), kSeed, kTorch).passed);
}

TEST(AikgVerdict, SeedSaysSuccess) {
  EXPECT_EQ(Off(DType::kFloat32, 0, 0, kSeed).message, "验证结果: 成功");
  EXPECT_EQ(Off(DType::kFloat32, 0, 0, kSeed).allowed, 4);
}

TEST(AikgVerdict, HeadWantsNotFiniteAtTheSamePlaces) {
  const double inf = INFINITY;
  const OwnedTensor reference(DType::kFloat32, {4}, {1, std::nan(""), inf, -inf});
  const auto judge = [&](const std::vector<double>& values) {
    const OwnedTensor candidate(DType::kFloat32, {4}, values);
    return MakeAikgVerdict(reference.view(), candidate.view(), kHead, kTorch).passed;
  };
  EXPECT_TRUE(judge({1, std::nan(""), inf, -inf}));
  EXPECT_FALSE(judge({1, 0, inf, -inf}));
  EXPECT_FALSE(judge({std::nan(""), std::nan(""), inf, -inf}));
  EXPECT_FALSE(judge({1, std::nan(""), -inf, -inf}));
  EXPECT_FALSE(judge({1, std::nan(""), 5, -inf}));
  EXPECT_FALSE(judge({1.1, std::nan(""), inf, -inf}));
}

TEST(AikgVerdict, HeadTakesSmallReferencesAbsolutely) {
  const OwnedTensor reference(DType::kFloat32, {1}, {1e-9});
  const OwnedTensor candidate(DType::kFloat32, {1}, {1e-3});
  EXPECT_TRUE(MakeAikgVerdict(reference.view(), candidate.view(), kHead, kTorch).passed);
  EXPECT_FALSE(MakeAikgVerdict(reference.view(), candidate.view(), kSeed, kTorch).passed);
}

TEST(AikgVerdict, Bool) {
  const OwnedTensor reference(DType::kBool, {1000}, std::vector<double>(1000, 1));
  OwnedTensor candidate = reference;
  EXPECT_TRUE(MakeAikgVerdict(reference.view(), candidate.view(), kHead, kTorch).passed);
  EXPECT_FALSE(MakeAikgVerdict(reference.view(), candidate.view(), kSeed, kTorch).passed);
  candidate.Set(7, 0);
  const AikgVerdict verdict = MakeAikgVerdict(reference.view(), candidate.view(), kHead, kTorch);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.first_errors, std::vector<int64_t>{7});
}

TEST(AikgVerdict, LengthsAreComparedShapesAreNot) {
  const OwnedTensor reference(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const OwnedTensor flat(DType::kFloat32, {6}, {1, 2, 3, 4, 5, 6});
  const OwnedTensor shorter(DType::kFloat32, {5}, {1, 2, 3, 4, 5});
  for (const auto generation : {kSeed, kHead}) {
    EXPECT_TRUE(MakeAikgVerdict(reference.view(), flat.view(), generation, kTorch).passed);
    EXPECT_FALSE(MakeAikgVerdict(reference.view(), shorter.view(), generation, kTorch).passed);
  }
}

TEST(AikgVerdict, HeadCastsTheCandidate) {
  const OwnedTensor reference(DType::kFloat16, {1}, {1});
  const OwnedTensor wide(DType::kFloat64, {1}, {1.0001});
  const AikgVerdict verdict = MakeAikgVerdict(reference.view(), wide.view(), kHead, kTorch);
  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.max_error, 0);
}

}  // namespace
}  // namespace kerf::verify
