// Rounding to half precision the slow and obvious way: the nearest of all values, the even one of
// two equally near.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kerf {

#if defined(__x86_64__)
using Wide = __float128;  // holds products and sums of halves exactly
#else
using Wide = long double;
#endif

inline double HalfToDouble(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const int mantissa = h & 0x3ff;
  double v = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) v = mantissa == 0 ? INFINITY : NAN;
  return (h & 0x8000) != 0 ? -v : v;
}

inline uint16_t NearestHalf(Wide v) {
  // 0x7c00, infinity, stands for the value 65536 that would come next.
  static const std::vector<double> kValues = [] {
    std::vector<double> values;
    for (unsigned h = 0; h < 0x7c00; ++h) values.push_back(HalfToDouble(static_cast<uint16_t>(h)));
    values.push_back(65536.0);
    return values;
  }();
  const bool negative = v < 0 || (v == 0 && std::signbit(static_cast<double>(v)));
  const Wide a = negative ? -v : v;
  const uint16_t sign = negative ? 0x8000 : 0;
  if (a >= 65536) return sign | 0x7c00;
  const auto above =
      std::upper_bound(kValues.begin(), kValues.end(), a, [](Wide x, double y) { return x < y; });
  const auto low = static_cast<uint16_t>(above - kValues.begin() - 1);
  const Wide to_low = a - kValues[low];
  const Wide to_high = *above - a;
  const bool up = to_high < to_low || (to_high == to_low && (low & 1) != 0);
  return sign | static_cast<uint16_t>(low + up);
}

}  // namespace kerf
