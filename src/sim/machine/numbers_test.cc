#include <gtest/gtest.h>
#include <kerf_pto/numbers.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace kerf_pto {
namespace {

TEST(Numbers, DecodeAndEncodeEveryHalf) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = HalfValue(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(HalfBits(value), bits);
  }
}

TEST(Numbers, DecodeAndEncodeEveryFp8) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const float e4m3 = DecodeSmall(bits, kE4M3Format);
    if (!std::isnan(e4m3)) {
      ASSERT_EQ(EncodeFloat(e4m3, kE4M3Format, Rounding::kRint), bits);
    }
    const float e5m2 = DecodeSmall(bits, kE5M2Format);
    if (!std::isnan(e5m2)) {
      ASSERT_EQ(EncodeFloat(e5m2, kE5M2Format, Rounding::kRint), bits);
    }
  }
}

#ifdef __FLT16_MAX__
TEST(Numbers, RoundToHalfAsTheCompilerDoes) {
  uint32_t bits = 1;
  for (int i = 0; i < 200000; ++i) {
    bits = bits * 1664525 + 1013904223;
    const float value = FloatOfBits(bits);
    if (std::isnan(value)) continue;
    const auto half_value = static_cast<_Float16>(value);
    uint16_t wanted = 0;
    std::memcpy(&wanted, &half_value, sizeof wanted);
    ASSERT_EQ(HalfBits(value), wanted) << bits;
  }
}
#endif

TEST(Numbers, RoundToBfloat16LikeTheGeneralEncoder) {
  uint32_t bits = 7;
  for (int i = 0; i < 200000; ++i) {
    bits = bits * 1664525 + 1013904223;
    const float value = FloatOfBits(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(Bfloat16Bits(value), EncodeFloat(value, kBfloat16Format, Rounding::kRint)) << bits;
  }
}

TEST(Numbers, KeepTheEdges) {
  EXPECT_EQ(HalfBits(65520.0F), 0x7c00);  // the tie above the largest rounds to infinity
  EXPECT_EQ(HalfBits(65519.0F), 0x7bff);
  EXPECT_EQ(HalfBits(1e-8F), 0);
  EXPECT_EQ(HalfBits(5.9604645e-8F), 1);  // the smallest there is
  EXPECT_TRUE(std::isnan(HalfValue(HalfBits(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(DecodeSmall(0x7e, kE4M3Format), 448.0F);
  EXPECT_EQ(EncodeFloat(1e6F, kE4M3Format, Rounding::kRint), 0x7eU);  // no infinity: the largest
  EXPECT_EQ(E8M0Value(127), 1.0F);
  EXPECT_EQ(E8M0Value(0), std::ldexp(1.0F, -127));
}

TEST(Numbers, RoundToOdd) {
  // 1 + 2^-12 is not exact in half: the neighbour with an odd last bit.
  EXPECT_EQ(EncodeFloat(1.000244140625F, kHalfFormat, Rounding::kOdd), 0x3c01U);
}

}  // namespace
}  // namespace kerf_pto
