#include "loop/verify/timed_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace kerf::verify {
namespace {

bool Ordered(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  return HasOrder({DType::kFloat32, shape}, reinterpret_cast<const char*>(values.data()));
}

TEST(HasOrder, SeesRowsThatRiseOrFall) {
  EXPECT_TRUE(Ordered({6}, {1, 2, 2, 3, 4, 5}));
  EXPECT_TRUE(Ordered({2, 3}, {3, 2, 1, 9, 8, 7}));
  EXPECT_TRUE(Ordered({3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(Ordered({2, 3}, {1, 2, 3, 3, 2, 1}));
}

TEST(HasOrder, SeesSymmetricMatrices) {
  EXPECT_TRUE(Ordered({3, 3}, {1, 5, 2, 5, 0, 4, 2, 4, 1}));
  EXPECT_TRUE(Ordered({2, 3, 3}, {1, 5, 2, 5, 0, 4, 2, 4, 1, 7, 5, 2, 5, 7, 4, 2, 4, 7}));
  EXPECT_FALSE(Ordered({3, 3}, {1, 5, 2, 3, 0, 4, 2, 4, 1}));
}

TEST(HasOrder, TakesAColumnForNoMatrix) {
  EXPECT_FALSE(Ordered({5, 1}, {1, 5, 2, 5, 0}));
  EXPECT_FALSE(Ordered({1, 4, 1}, {1, 5, 2, 5}));
  EXPECT_FALSE(Ordered({2, 2}, {1, 5, 2, 5}));
}

TEST(Renewal, ChangesValuesAndKeepsZerosAndSigns) {
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 5 == 0 ? 0 : std::sin(static_cast<float>(i * i));
  }
  const std::vector<float> before = values;
  const auto random = MakeRandomIds();
  Renewal renewal(*random);
  renewal.Apply({DType::kFloat32, {16, 16}}, reinterpret_cast<char*>(values.data()));
  int scaled_otherwise = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::signbit(values[i]), std::signbit(before[i]));
    if (before[i] == 0) {
      EXPECT_EQ(values[i], 0);
      continue;
    }
    const float factor = values[i] / before[i];
    EXPECT_GT(factor, 0.7F * 0.7F);
    EXPECT_LT(factor, 1.3F * 1.3F);
    if (factor < 0.96F || factor > 1.04F) ++scaled_otherwise;
  }
  EXPECT_GT(scaled_otherwise, 0);
}

TEST(Renewal, OnlyScalesWhatHasAnOrder) {
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 1.0F);
  const auto random = MakeRandomIds();
  Renewal renewal(*random);
  renewal.Apply({DType::kFloat32, {256}}, reinterpret_cast<char*>(values.data()));
  for (size_t i = 1; i < values.size(); ++i) EXPECT_GT(values[i], values[i - 1]);
}

TEST(Renewal, LeavesIntegersAlone) {
  std::vector<int32_t> values(64, 7);
  const auto random = MakeRandomIds();
  Renewal renewal(*random);
  renewal.Apply({DType::kInt32, {64}}, reinterpret_cast<char*>(values.data()));
  EXPECT_EQ(values, std::vector<int32_t>(64, 7));
}

}  // namespace
}  // namespace kerf::verify
