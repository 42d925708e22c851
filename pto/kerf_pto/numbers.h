// Numbers that C++ does not have: half, bfloat16, the 8-bit and 4-bit floats, as bits and as types.
//
// Shared by the headers that a kernel includes and by the machine that executes it, so that a value
// a kernel computes on the scalar unit and one a tile instruction computes are rounded alike.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kerf_pto {

// How a value is rounded to a type that cannot hold it. The order is that of RoundMode in enums.h.
enum class Rounding : uint8_t { kNone, kRint, kRound, kFloor, kCeil, kTrunc, kOdd };

// A binary floating-point format with a sign (unless `is_unsigned`) and a hidden bit.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // otherwise the largest exponent holds numbers
  bool has_nan;       // all ones, when there is no infinity
  int more_bias = 0;  // beyond half the exponents, less one
};
inline constexpr SmallFloat kHalfFormat{5, 10, true, true};
inline constexpr SmallFloat kBfloat16Format{8, 7, true, true};
inline constexpr SmallFloat kFloatFormat{8, 23, true, true};
inline constexpr SmallFloat kE4M3Format{4, 3, false, true};
inline constexpr SmallFloat kE5M2Format{5, 2, true, true};
inline constexpr SmallFloat kE2M1Format{2, 1, false, false};
// 0 to 1.75 in steps of a quarter.
inline constexpr SmallFloat kE1M2Format{1, 2, false, false, 1};

constexpr int BiasOf(SmallFloat format) {
  return (1 << (format.exponent_bits - 1)) - 1 + format.more_bias;
}

inline uint32_t BitsOfFloat(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float FloatOfBits(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// m·2^e with its sign, rounded to `format`; m may use all 64 bits.
inline uint32_t EncodeSmall(bool negative, uint64_t m, int e, SmallFloat format, Rounding rounding,
                            bool saturate = false) {
  const int mb = format.mantissa_bits;
  const int bias = BiasOf(format);
  const uint32_t sign = static_cast<uint32_t>(negative) << (format.exponent_bits + mb);
  if (m == 0) return sign;
  const int top = 63 - __builtin_clzll(m);
  const int smallest = 1 - bias;
  int exponent = top + e < smallest ? smallest : top + e;
  const int shift = exponent - mb - e;  // bits of m below the last kept one
  uint64_t kept = 0;
  if (shift <= 0) {
    kept = m << (-shift & 63);  // at most mb, which is smaller
  } else {
    const bool gone = shift > 63;
    kept = gone ? 0 : m >> shift;
    const uint64_t rest = gone ? m : m & ((uint64_t{1} << shift) - 1);
    const uint64_t half = shift > 64 ? 0 : uint64_t{1} << (shift - 1);
    const bool above = shift <= 64 && rest > half;
    const bool tie = shift <= 64 && rest == half;
    bool up = false;
    switch (rounding) {
      case Rounding::kNone:
      case Rounding::kRint:
        up = above || (tie && (kept & 1) != 0);
        break;
      case Rounding::kRound:
        up = above || tie;
        break;
      case Rounding::kFloor:
        up = negative && rest != 0;
        break;
      case Rounding::kCeil:
        up = !negative && rest != 0;
        break;
      case Rounding::kTrunc:
        break;
      case Rounding::kOdd:
        up = rest != 0 && (kept & 1) == 0;
        break;
    }
    kept += up ? 1 : 0;
  }
  if (kept >> (mb + 1) != 0) {
    kept >>= 1;
    ++exponent;
  }
  const uint32_t all = (1U << format.exponent_bits) - 1;
  uint32_t field = kept >> mb == 0 ? 0 : static_cast<uint32_t>(exponent + bias);
  uint32_t bits = (field << mb) | (static_cast<uint32_t>(kept) & ((1U << mb) - 1));
  const uint32_t infinity = all << mb;
  const uint32_t largest = format.has_infinity
                               ? infinity - 1
                               : ((infinity | ((1U << mb) - 1)) - (format.has_nan ? 1 : 0));
  if (bits > largest) {
    const bool to_zero = rounding == Rounding::kTrunc ||
                         (rounding == Rounding::kFloor && !negative) ||
                         (rounding == Rounding::kCeil && negative) || rounding == Rounding::kOdd;
    bits = format.has_infinity && !saturate && !to_zero ? infinity : largest;
  }
  return sign | bits;
}

inline uint32_t EncodeFloat(float value, SmallFloat format, Rounding rounding,
                            bool saturate = false) {
  const uint32_t bits = BitsOfFloat(value);
  const bool negative = bits >> 31 != 0;
  const uint32_t field = (bits >> 23) & 0xff;
  const uint32_t mantissa = bits & 0x7fffff;
  const int mb = format.mantissa_bits;
  const uint32_t sign = static_cast<uint32_t>(negative) << (format.exponent_bits + mb);
  const uint32_t infinity = ((1U << format.exponent_bits) - 1) << mb;
  if (field == 0xff && mantissa != 0) {  // a quiet NaN, or the nearest to it
    if (!format.has_nan) return 0;
    return format.has_infinity ? sign | infinity | (1U << (mb - 1))
                               : sign | infinity | ((1U << mb) - 1);
  }
  if (field == 0xff) {
    if (format.has_infinity && !saturate) return sign | infinity;
    return EncodeSmall(negative, 1, 126, format, Rounding::kRint, true);
  }
  if (field == 0) return EncodeSmall(negative, mantissa, -149, format, rounding, saturate);
  return EncodeSmall(negative, mantissa | 0x800000, static_cast<int>(field) - 150, format, rounding,
                     saturate);
}

inline float DecodeSmall(uint32_t bits, SmallFloat format) {
  const int mb = format.mantissa_bits;
  const int bias = BiasOf(format);
  const uint32_t mantissa = bits & ((1U << mb) - 1);
  const uint32_t all = (1U << format.exponent_bits) - 1;
  const uint32_t field = (bits >> mb) & all;
  const uint32_t sign = ((bits >> (format.exponent_bits + mb)) & 1) << 31;
  if (field == all && format.has_infinity) {
    return FloatOfBits(sign | 0x7f800000 | (mantissa << (23 - mb)));
  }
  if (field == all && format.has_nan && mantissa == (1U << mb) - 1) {
    return FloatOfBits(sign | 0x7fc00000);
  }
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - bias - mb;
  const auto m = static_cast<float>(field == 0 ? mantissa : mantissa | (1U << mb));
  // Exact: at most 24 bits, and no format here is wider than float.
  float scaled = m;
  int left = exponent;
  for (; left > 0; left -= left > 60 ? 60 : left)
    scaled *= static_cast<float>(uint64_t{1} << (left > 60 ? 60 : left));
  for (; left < 0; left += left < -60 ? 60 : -left)
    scaled /= static_cast<float>(uint64_t{1} << (left < -60 ? 60 : -left));
  return FloatOfBits(BitsOfFloat(scaled) | sign);
}

inline uint16_t HalfBits(float value) {
  return static_cast<uint16_t>(EncodeFloat(value, kHalfFormat, Rounding::kRint));
}
inline float HalfValue(uint16_t bits) { return DecodeSmall(bits, kHalfFormat); }

inline uint16_t Bfloat16Bits(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline float Bfloat16Value(uint16_t bits) { return FloatOfBits(static_cast<uint32_t>(bits) << 16); }

// 2^(x-127); 255 is NaN.
inline float E8M0Value(uint8_t bits) {
  if (bits == 255) return FloatOfBits(0x7fc00000);
  return bits == 0 ? FloatOfBits(0x00400000) : FloatOfBits(static_cast<uint32_t>(bits) << 23);
}

template <typename T>
using IfArithmetic = std::enable_if_t<std::is_arithmetic_v<T>, int>;

}  // namespace kerf_pto

// The names kernels use. Each is its bits; arithmetic happens in float.
struct half {
  uint16_t bits = 0;
  half() = default;
  template <typename T, kerf_pto::IfArithmetic<T> = 0>
  half(T value) : bits(kerf_pto::HalfBits(static_cast<float>(value))) {}
  operator float() const { return kerf_pto::HalfValue(bits); }
};

struct bfloat16_t {
  uint16_t bits = 0;
  bfloat16_t() = default;
  template <typename T, kerf_pto::IfArithmetic<T> = 0>
  bfloat16_t(T value) : bits(kerf_pto::Bfloat16Bits(static_cast<float>(value))) {}
  operator float() const { return kerf_pto::Bfloat16Value(bits); }
};

struct float8_e4m3_t {
  uint8_t bits = 0;
  float8_e4m3_t() = default;
  template <typename T, kerf_pto::IfArithmetic<T> = 0>
  float8_e4m3_t(T value)
      : bits(static_cast<uint8_t>(kerf_pto::EncodeFloat(
            static_cast<float>(value), kerf_pto::kE4M3Format, kerf_pto::Rounding::kRint))) {}
  operator float() const { return kerf_pto::DecodeSmall(bits, kerf_pto::kE4M3Format); }
};

struct float8_e5m2_t {
  uint8_t bits = 0;
  float8_e5m2_t() = default;
  template <typename T, kerf_pto::IfArithmetic<T> = 0>
  float8_e5m2_t(T value)
      : bits(static_cast<uint8_t>(kerf_pto::EncodeFloat(
            static_cast<float>(value), kerf_pto::kE5M2Format, kerf_pto::Rounding::kRint))) {}
  operator float() const { return kerf_pto::DecodeSmall(bits, kerf_pto::kE5M2Format); }
};

struct float8_e8m0_t {
  uint8_t bits = 0;
  operator float() const { return kerf_pto::E8M0Value(bits); }
};
// Two values to a byte, the first in the low half. A tile's rows and columns count values.
struct float4_e2m1x2_t {
  uint8_t bits = 0;
};
struct float4_e1m2x2_t {
  uint8_t bits = 0;
};
struct int4b_t {
  uint8_t bits = 0;
};
// Storage only: its arithmetic is not simulated.
struct hifloat8_t {
  uint8_t bits = 0;
};
