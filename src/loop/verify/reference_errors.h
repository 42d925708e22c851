// What a reference got wrong, by the binary exponent of what was expected.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "loop/verify/budget.h"

namespace kerf::verify {

// Of float64, whose exponents stand for the magnitudes of every type.
inline constexpr int kExponentBias = 1023;
inline double PowerOfTwo(int exponent) { return std::ldexp(1.0, exponent - kExponentBias); }

struct ExponentBin {
  int64_t count = 0;     // components where oracle and reference are finite
  double max_error = 0;  // of the reference
  // In units of the bin's power of two: squares of what is expected need not fit a double.
  double sum_error2 = 0;
  double sum_expected2 = 0;
  double sum_lower_error2 = 0;
  double sum_condition2 = 0;
};

// Indexed by the biased exponent of a double. What is smaller than the smallest normal number of
// the output shares the bin of that number.
using ExponentBins = std::vector<ExponentBin>;

ExponentBins CollectErrors(const Expected& expected, int threads);

// How the reference's error depends on the magnitude.
struct ErrorProfile {
  // 0: the error is the same at every magnitude, as in sums; 1: it is proportional to it.
  double slope = 0;
  // The reference's error at each exponent that occurs, guarded against chance (see the .cc); 0
  // elsewhere.
  std::array<double, kExponents> error{};
  // No error exceeds what rounding the oracle once would give.
  bool rounded_once = true;
};

ErrorProfile MakeProfile(const ExponentBins& bins, double unit_roundoff);

// The typical condition (budget.h) at each magnitude, guarded against chance; 0 where nothing is
// known.
std::array<double, kExponents> TypicalConditions(const ExponentBins& bins);

}  // namespace kerf::verify
