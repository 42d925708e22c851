#include "loop/verify/reference_errors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::verify {
namespace {

// Where the elements of magnitude 2^e are counted.
size_t BinOf(int e) {
  const int biased = e + 1023;
  return static_cast<size_t>(biased);
}

// `count` elements of magnitude 2^e with this condition each.
void Fill(ExponentBins& bins, int e, int64_t count, double condition) {
  ExponentBin& bin = bins[BinOf(e)];
  const double unit = condition / std::exp2(e);
  bin.count = count;
  bin.sum_condition2 = static_cast<double>(count) * unit * unit;
}

double At(const ExponentBins& bins, int e) { return TypicalConditions(bins)[BinOf(e)]; }

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
