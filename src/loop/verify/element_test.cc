#include "loop/verify/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kerf::verify {
namespace {

struct Layout {
  DType dtype;
  int bits;
  int exponent_bits;
};

constexpr Layout kLayouts[] = {{DType::kFloat8E4M3, 8, 4},
                               {DType::kFloat8E5M2, 8, 5},
                               {DType::kFloat16, 16, 5},
                               {DType::kBFloat16, 16, 8}};

// The definition of the format, field by field.
double SlowDecode(const Layout& layout, uint32_t code) {
  const int mantissa_bits = layout.bits - 1 - layout.exponent_bits;
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const double sign = (code >> (layout.bits - 1)) != 0 ? -1 : 1;
  const int all_ones = (1 << layout.exponent_bits) - 1;
  const int exponent = static_cast<int>(code >> mantissa_bits) & all_ones;
  const auto mantissa = static_cast<int>(code & ((1U << mantissa_bits) - 1));
  if (layout.dtype == DType::kFloat8E4M3) {
    if (exponent == all_ones && mantissa == 7) return std::nan("");
  } else if (exponent == all_ones) {
    return mantissa != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  const double fraction = static_cast<double>(mantissa) / (1 << mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

bool SameNumber(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

TEST(Element, DecodesEveryCodeOfTheNarrowFloats) {
  for (const Layout& layout : kLayouts) {
    const uint32_t codes = 1U << layout.bits;
    std::vector<unsigned char> bytes;
    for (uint32_t code = 0; code < codes; ++code) {
      bytes.push_back(static_cast<unsigned char>(code));
      if (layout.bits == 16) bytes.push_back(static_cast<unsigned char>(code >> 8));
    }
    std::vector<double> decoded(codes);
    DecodeElements(layout.dtype, bytes.data(), codes, decoded.data());
    for (uint32_t code = 0; code < codes; ++code) {
      ASSERT_TRUE(SameNumber(decoded[code], SlowDecode(layout, code)))
          << DTypeName(layout.dtype) << " code " << code << ": " << decoded[code];
      ASSERT_TRUE(SameNumber(decoded[code], DecodeElement(layout.dtype, bytes.data(), code)));
    }
  }
}

TEST(Element, EncodeUndoesDecodeForEveryCode) {
  for (const Layout& layout : kLayouts) {
    for (uint32_t code = 0; code < 1U << layout.bits; ++code) {
      const double value = SlowDecode(layout, code);
      if (std::isnan(value)) continue;
      uint16_t encoded = 0;
      EncodeElement(layout.dtype, value, &encoded, 0);
      ASSERT_EQ(encoded, code) << DTypeName(layout.dtype);
    }
  }
}

TEST(Element, EncodeRoundsToTheNearestEvenCode) {
  std::mt19937_64 random(1);
  for (const Layout& layout : kLayouts) {
    const FloatFormat& format = FormatOf(layout.dtype);
    std::uniform_int_distribution<uint32_t> codes(0, (1U << (layout.bits - 1)) - 2);
    for (int i = 0; i < 20000; ++i) {
      const uint32_t code = codes(random);
      const double low = SlowDecode(layout, code);
      const double high = SlowDecode(layout, code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double share = i % 3 == 0 ? 0.5 : std::uniform_real_distribution<double>()(random);
      const double value = low + share * (high - low);
      const uint32_t right = share < 0.5 ? code : (share > 0.5 ? code + 1 : code + code % 2);
      uint16_t encoded = 0;
      EncodeElement(layout.dtype, -value, &encoded, 0);
      ASSERT_EQ(encoded, right | 1U << (layout.bits - 1)) << DTypeName(layout.dtype) << value;
    }
    uint16_t top = 0;
    EncodeElement(layout.dtype, std::nextafter(format.overflow, 0), &top, 0);
    EXPECT_EQ(DecodeElement(layout.dtype, &top, 0), format.max_finite);
    EncodeElement(layout.dtype, format.overflow, &top, 0);
    EXPECT_FALSE(std::isfinite(DecodeElement(layout.dtype, &top, 0)));
  }
}

TEST(Element, FormatsAgreeWithTheLanguage) {
  EXPECT_EQ(FormatOf(DType::kFloat32).max_finite, std::numeric_limits<float>::max());
  EXPECT_EQ(FormatOf(DType::kFloat32).smallest, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(FormatOf(DType::kFloat32).unit_roundoff, std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(FormatOf(DType::kFloat64).unit_roundoff, std::numeric_limits<double>::epsilon() / 2);
  EXPECT_EQ(FormatOf(DType::kFloat64).smallest, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(FormatOf(DType::kFloat16).unit_roundoff, 0x1p-11);
  EXPECT_EQ(FormatOf(DType::kBFloat16).unit_roundoff, 0x1p-8);
  EXPECT_EQ(FormatOf(DType::kFloat8E4M3).unit_roundoff, 0x1p-4);
  EXPECT_EQ(FormatOf(DType::kFloat8E5M2).unit_roundoff, 0x1p-3);
}

template <typename T>
void CheckInteger(DType dtype) {
  for (const T value : {std::numeric_limits<T>::min(), T{0}, T{1}, std::numeric_limits<T>::max()}) {
    const T values[] = {0, value};
    EXPECT_EQ(DecodeElement(dtype, values, 1), static_cast<double>(value)) << DTypeName(dtype);
    T encoded[2] = {};
    EncodeElement(dtype, static_cast<double>(value), encoded, 1);
    EXPECT_EQ(encoded[1], value) << DTypeName(dtype);
  }
  T clamped = 1;
  EncodeElement(dtype, 1e300, &clamped, 0);
  EXPECT_EQ(clamped, std::numeric_limits<T>::max());
  EncodeElement(dtype, std::nan(""), &clamped, 0);
  EXPECT_EQ(clamped, 0);
}

TEST(Element, Integers) {
  CheckInteger<int8_t>(DType::kInt8);
  CheckInteger<int16_t>(DType::kInt16);
  CheckInteger<int32_t>(DType::kInt32);
  CheckInteger<int64_t>(DType::kInt64);
  CheckInteger<uint8_t>(DType::kUInt8);
  CheckInteger<uint16_t>(DType::kUInt16);
  CheckInteger<uint32_t>(DType::kUInt32);
  CheckInteger<uint64_t>(DType::kUInt64);
}

TEST(Element, ComplexIsItsComponents) {
  const double pairs[] = {1, 2, 3, 4};
  EXPECT_EQ(DecodeElement(DType::kComplex128, pairs, 3), 4);
  EXPECT_EQ(ComponentType(DType::kComplex64), DType::kFloat32);
  EXPECT_EQ(ComponentsOf(DType::kComplex64), 2);
  EXPECT_EQ(ComponentsOf(DType::kFloat64), 1);
}

}  // namespace
}  // namespace kerf::verify
