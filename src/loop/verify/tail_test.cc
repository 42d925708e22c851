#include "loop/verify/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace kerf::verify {
namespace {

// Feeds as the comparison does: only what is notable.
void Feed(Tail& tail, const std::vector<double>& ratios, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (ratios[i] > tail.notable_ratio()) tail.Add(ratios[i], static_cast<int64_t>(i));
  }
}

void ExpectRight(const Tail& tail, std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end(), std::greater<>());
  const double quantile = ratios[ratios.size() / 1000];
  EXPECT_GE(tail.Quantile999(), quantile);
  EXPECT_LE(tail.Quantile999(), quantile * 1.13);
  EXPECT_EQ(tail.max_ratio(), ratios[0]);
  for (size_t i = 0; i < tail.worst().size(); ++i) EXPECT_EQ(tail.worst()[i].ratio, ratios[i]);
}

TEST(Tail, QuantileAndWorstOfRandomRatios) {
  std::mt19937_64 random(3);
  for (const size_t count : {1U, 9U, 11U, 999U, 1000U, 5000U, 200000U}) {
    for (const double spread : {0.1, 1.0, 5.0}) {
      std::vector<double> ratios(count);
      std::lognormal_distribution<double> lognormal(-1, spread);
      for (double& ratio : ratios) ratio = lognormal(random);
      Tail whole(static_cast<int64_t>(count));
      Feed(whole, ratios, 0, count);
      ExpectRight(whole, ratios);
      Tail first(static_cast<int64_t>(count));
      Tail second(static_cast<int64_t>(count));
      Feed(first, ratios, 0, count / 3);
      Feed(second, ratios, count / 3, count);
      first.Merge(second);
      ExpectRight(first, ratios);
      EXPECT_EQ(first.worst().size(), std::min<size_t>(10, count));
    }
  }
}

TEST(Tail, NeedsFewElementsOfALargeTensor) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> exponential;
  Tail tail(1 << 20);
  int added = 0;
  for (int i = 0; i < 1 << 20; ++i) {
    const double ratio = exponential(random);
    if (ratio <= tail.notable_ratio()) continue;
    tail.Add(ratio, i);
    ++added;
  }
  EXPECT_LT(added, 20000);
}

TEST(Tail, ManyEqualOnesAreSoonIgnored) {
  Tail tail(100000);
  int added = 0;
  for (int i = 0; i < 100000; ++i) {
    if (0.5 <= tail.notable_ratio()) continue;
    tail.Add(0.5, i);
    ++added;
  }
  EXPECT_LT(added, 200);
  EXPECT_EQ(tail.Quantile999(), 0.5);
  EXPECT_EQ(tail.worst().front().index, 0);
}

TEST(Tail, InfinityIsTheWorst) {
  Tail tail(5);
  tail.Add(1e30, 0);
  tail.Add(std::numeric_limits<double>::infinity(), 1);
  EXPECT_EQ(tail.worst()[0].index, 1);
  EXPECT_TRUE(std::isinf(tail.Quantile999()));
}

TEST(Tail, NothingAddedIsZero) {
  const Tail tail(100);
  EXPECT_EQ(tail.Quantile999(), 0);
  EXPECT_EQ(tail.max_ratio(), 0);
}

}  // namespace
}  // namespace kerf::verify
