// Conversions and arithmetic of 16-bit floats, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kerf_simt/bfloat16.h"
#include "kerf_simt/half.h"
#include "simt/half_reference.h"

namespace {

using kerf::NearestHalf;
using kerf::Wide;

TEST(SimtHalf, EveryHalfSurvivesTheWayThroughFloat) {
  for (unsigned i = 0; i < 65536; ++i) {
    const __half h = __ushort_as_half(static_cast<unsigned short>(i));
    if (__hisnan(h)) continue;
    ASSERT_EQ(__half_as_ushort(__float2half(__half2float(h))), i);
  }
}

TEST(SimtHalf, RoundsFloatsToNearestEven) {
  std::mt19937 engine(1);
  for (int i = 0; i < 500'000; ++i) {
    const auto f = __uint_as_float(static_cast<unsigned>(engine()));
    if (std::isnan(f)) continue;
    ASSERT_EQ(__half_as_ushort(__float2half(f)), NearestHalf(f)) << f;
  }
  for (float f : {65504.f, 65519.99f, 65520.f, -65520.f, 0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f,
                  0x1p-14f, 2049.f, 2051.f}) {
    EXPECT_EQ(__half_as_ushort(__float2half(f)), NearestHalf(f)) << f;
  }
}

TEST(SimtHalf, RoundsDoublesOnce) {
  // Through float this would round up twice.
  const double d = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(__half_as_ushort(__double2half(d)), 0x3c01);
  EXPECT_EQ(__half_as_ushort(__double2half(1.0 + 0x1p-11)), 0x3c00);
}

TEST(SimtHalf, FmaRoundsOnce) {
  // The sum needs 60 digits: a rounding to double first would lose the last, and with it the
  // direction.
  const __half a = __ushort_as_half(0x0001);  // 2^-24
  const __half c = __float2half(1.0f + 0x1p-10f);
  EXPECT_EQ(__half_as_ushort(__hfma(a, a, c)), __half_as_ushort(c));
  std::mt19937 engine(2);
  for (int i = 0; i < 200'000; ++i) {
    const __half x = __ushort_as_half(static_cast<unsigned short>(engine() & 0x7bff));
    const __half y = __ushort_as_half(static_cast<unsigned short>(engine() & 0x7bff));
    const __half z = __ushort_as_half(static_cast<unsigned short>(engine() & 0xfbff));
    const Wide exact =
        static_cast<Wide>(static_cast<float>(x)) * static_cast<Wide>(static_cast<float>(y)) +
        static_cast<Wide>(static_cast<float>(z));
    ASSERT_EQ(__half_as_ushort(__hfma(x, y, z)), NearestHalf(exact));
  }
}

TEST(SimtHalf, ArithmeticRoundsOnce) {
  std::mt19937 engine(3);
  for (int i = 0; i < 200'000; ++i) {
    const __half x = __ushort_as_half(static_cast<unsigned short>(engine() & 0xfbff));
    const __half y = __ushort_as_half(static_cast<unsigned short>(engine() & 0xfbff));
    const double dx = static_cast<float>(x), dy = static_cast<float>(y);
    ASSERT_EQ(__half_as_ushort(x + y), NearestHalf(Wide(dx) + dy));
    ASSERT_EQ(__half_as_ushort(x * y), NearestHalf(Wide(dx) * dy));
  }
}

TEST(SimtHalf, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0f + 0x1p-8f)), 0x3f80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0f + 3 * 0x1p-8f)), 0x3f82);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(3.4e38f)), 0x7f80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(NAN)), 0x7fff);
  EXPECT_EQ(static_cast<float>(__float2bfloat16(1.5f) * __float2bfloat16(2.f)), 3.f);
}

}  // namespace
