#include "loop/verify/statistics.h"

#include <gtest/gtest.h>

namespace kerf::verify {
namespace {

TEST(Statistics, QuantilesAreSamples) {
  EXPECT_EQ(Quantile({3, 1, 2}, 0), 1);
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(Median({}), 0);
}

TEST(Statistics, TheIntervalHoldsTheRatio) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(200 + i % 7);
    b.push_back(100 + i % 5);
  }
  const Interval ratio = MedianRatio(a, b);
  EXPECT_NEAR(ratio.middle, 2, 0.05);
  EXPECT_LE(ratio.low, ratio.middle);
  EXPECT_GE(ratio.high, ratio.middle);
  EXPECT_GT(ratio.low, 1.9);
}

TEST(Statistics, NoiseWidensTheInterval) {
  std::vector<double> quiet;
  std::vector<double> noisy;
  std::vector<double> one(40, 100);
  for (int i = 0; i < 40; ++i) {
    quiet.push_back(100 + i % 2);
    noisy.push_back(i % 2 == 0 ? 50 : 200);
  }
  const Interval a = MedianRatio(quiet, one);
  const Interval b = MedianRatio(noisy, one);
  EXPECT_LT(a.high - a.low, 0.02);
  EXPECT_GT(b.high - b.low, 1);
}

TEST(Statistics, OneSlowRoundDoesNotMoveTheMedian) {
  std::vector<double> a(31, 100);
  const std::vector<double> b(31, 100);
  a[7] = 1e9;
  EXPECT_EQ(MedianRatio(a, b).middle, 1);
}

}  // namespace
}  // namespace kerf::verify
