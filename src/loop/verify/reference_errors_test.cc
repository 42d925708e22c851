#include "loop/verify/reference_errors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::verify {
namespace {

constexpr int kOne = 1023;  // the biased exponent of 1

// `count` elements of magnitude 2^e with this condition each.
void Fill(ExponentBins& bins, int e, int64_t count, double condition) {
  ExponentBin& bin = bins[static_cast<size_t>(kOne + e)];
  const double unit = condition / std::exp2(e);
  bin.count = count;
  bin.sum_condition2 = static_cast<double>(count) * unit * unit;
}

double At(const ExponentBins& bins, int e) {
  return TypicalConditions(bins)[static_cast<size_t>(kOne + e)];
}

TEST(TypicalConditions, ALuckySmallElementLearnsFromLargerOnes) {
  // A difference with a mean: as wrong at every magnitude.
  ExponentBins bins(kExponents);
  for (int e = -6; e <= 1; ++e) Fill(bins, e, 200, 0.5);
  Fill(bins, -15, 1, 0.5 / 200);
  EXPECT_NEAR(At(bins, -15), 0.5, 1e-9);
  // Luck has its limits.
  Fill(bins, -15, 1, 0.5 / 1e6);
  EXPECT_LT(At(bins, -15), 0.5 / 900);
}

TEST(TypicalConditions, ConditionsThatFollowTheElementsLendNothing) {
  ExponentBins bins(kExponents);
  for (int e = -6; e <= 1; ++e) Fill(bins, e, 200, std::exp2(e));
  Fill(bins, -15, 1, std::exp2(-15));
  EXPECT_NEAR(At(bins, -15), std::exp2(-15), 1e-12);
}

}  // namespace
}  // namespace kerf::verify
