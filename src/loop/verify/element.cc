#include "loop/verify/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace kerf::verify {
namespace {

constexpr FloatFormat MakeFormat(int mantissa_bits, int min_exponent, double max_finite,
                                 double overflow, bool has_infinity) {
  FloatFormat format{mantissa_bits, min_exponent, max_finite, overflow, has_infinity, 1, 1};
  for (int i = 0; i <= mantissa_bits; ++i) format.unit_roundoff /= 2;
  for (int i = 0; i > min_exponent - mantissa_bits; --i) format.smallest /= 2;
  return format;
}

constexpr FloatFormat kE4M3 = MakeFormat(3, -6, 448, 464, false);
constexpr FloatFormat kE5M2 = MakeFormat(2, -14, 57344, 61440, true);
constexpr FloatFormat kFloat16 = MakeFormat(10, -14, 65504, 65520, true);
constexpr FloatFormat kBFloat16 = MakeFormat(7, -126, 0x1.FEp127, 0x1.FFp127, true);
constexpr FloatFormat kFloat32 = MakeFormat(23, -126, 0x1.FFFFFEp127, 0x1.FFFFFFp127, true);
// No double lies beyond the largest one, so overflow is infinity itself.
constexpr FloatFormat kFloat64 = MakeFormat(52, -1022, std::numeric_limits<double>::max(),
                                            std::numeric_limits<double>::infinity(), true);

template <typename T>
T Load(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T>
void Store(void* data, int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(T)), &value,
              sizeof(T));
}

float HalfToFloat(uint16_t half) {
  // The exponent is moved to its place by a product, which also gives denormals their value.
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
  bits = (half & 0x7C00) == 0x7C00 ? magnitude | 0x7F800000 : bits;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

float BFloatToFloat(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

// E5M2 is the upper byte of a float16.
float E5M2ToFloat(uint8_t code) { return HalfToFloat(static_cast<uint16_t>(code << 8)); }

float E4M3ToFloat(uint8_t code) {
  const int exponent = code >> 3 & 15;
  const int mantissa = code & 7;
  float value = 0;
  if (exponent == 15 && mantissa == 7) {
    value = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = static_cast<float>(mantissa) * 0x1p-9F;
  } else {
    value = std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  }
  return (code & 0x80) != 0 ? -value : value;
}

using CodeTable = std::array<double, 256>;

const CodeTable& E4M3Table() {
  static const CodeTable kTable = [] {
    CodeTable table{};
    for (int i = 0; i < 256; ++i) table[i] = E4M3ToFloat(static_cast<uint8_t>(i));
    return table;
  }();
  return kTable;
}

template <typename T>
void DecodePlain(const void* data, size_t count, double* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<double>(Load<T>(data, static_cast<int64_t>(i)));
  }
}

template <typename T, auto kConvert>
void DecodeWith(const void* data, size_t count, double* out) {
  for (size_t i = 0; i < count; ++i) out[i] = kConvert(Load<T>(data, static_cast<int64_t>(i)));
}

void DecodeE4M3(const void* data, size_t count, double* out) {
  const CodeTable& table = E4M3Table();
  for (size_t i = 0; i < count; ++i) out[i] = table[static_cast<const uint8_t*>(data)[i]];
}

// The bits of a finite value in a format with at most 32 bits; value is a multiple of what the
// format can hold.
uint32_t Compose(const FloatFormat& format, double magnitude) {
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent);
  const auto steps = static_cast<uint32_t>(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // A denormal has no leading one, so that adding instead of or-ing makes its exponent field 0.
  return (static_cast<uint32_t>(exponent - format.min_exponent) << format.mantissa_bits) + steps;
}

uint32_t EncodeBits(const FloatFormat& format, int bits, double value) {
  const uint32_t sign = std::signbit(value) ? 1U << (bits - 1) : 0;
  const uint32_t all_ones = (1U << (bits - 1)) - 1;
  const uint32_t infinity = all_ones & ~((1U << format.mantissa_bits) - 1);
  const uint32_t nan = format.has_infinity ? infinity | 1U << (format.mantissa_bits - 1) : all_ones;
  if (std::isnan(value)) return sign | nan;
  const double magnitude = std::fabs(value);
  if (magnitude >= format.overflow) return sign | (format.has_infinity ? infinity : nan);
  const int exponent =
      magnitude == 0 ? format.min_exponent : std::max(std::ilogb(magnitude), format.min_exponent);
  const double step = std::ldexp(1.0, exponent - format.mantissa_bits);
  return sign | Compose(format, std::nearbyint(magnitude / step) * step);
}

template <typename T>
void StoreInteger(double value, void* data, int64_t index) {
  if (std::isnan(value)) value = 0;
  const double rounded = std::nearbyint(value);
  T result = 0;
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
    result = std::numeric_limits<T>::max();
  } else if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) {
    result = std::numeric_limits<T>::min();
  } else {
    result = static_cast<T>(rounded);
  }
  Store<T>(data, index, result);
}

}  // namespace

DType ComponentType(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  if (dtype == DType::kComplex128) return DType::kFloat64;
  return dtype;
}

int64_t ComponentsOf(DType dtype) { return IsComplex(dtype) ? 2 : 1; }

const FloatFormat& FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return kE4M3;
    case DType::kFloat8E5M2:
      return kE5M2;
    case DType::kFloat16:
      return kFloat16;
    case DType::kBFloat16:
      return kBFloat16;
    case DType::kFloat32:
      return kFloat32;
    default:
      KERF_CHECK(dtype == DType::kFloat64, "only float types have a format");
      return kFloat64;
  }
}

void DecodeElements(DType dtype, const void* data, size_t count, double* out) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return DecodePlain<uint8_t>(data, count, out);
    case DType::kInt8:
      return DecodePlain<int8_t>(data, count, out);
    case DType::kInt16:
      return DecodePlain<int16_t>(data, count, out);
    case DType::kInt32:
      return DecodePlain<int32_t>(data, count, out);
    case DType::kInt64:
      return DecodePlain<int64_t>(data, count, out);
    case DType::kUInt16:
      return DecodePlain<uint16_t>(data, count, out);
    case DType::kUInt32:
      return DecodePlain<uint32_t>(data, count, out);
    case DType::kUInt64:
      return DecodePlain<uint64_t>(data, count, out);
    case DType::kFloat8E4M3:
      return DecodeE4M3(data, count, out);
    case DType::kFloat8E5M2:
      return DecodeWith<uint8_t, E5M2ToFloat>(data, count, out);
    case DType::kFloat16:
      return DecodeWith<uint16_t, HalfToFloat>(data, count, out);
    case DType::kBFloat16:
      return DecodeWith<uint16_t, BFloatToFloat>(data, count, out);
    case DType::kFloat32:
    case DType::kComplex64:
      return DecodePlain<float>(data, count, out);
    case DType::kFloat64:
    case DType::kComplex128:
      return DecodePlain<double>(data, count, out);
  }
}

double DecodeElement(DType dtype, const void* data, int64_t index) {
  const auto bytes = static_cast<int64_t>(DTypeBytes(ComponentType(dtype)));
  double value = 0;
  DecodeElements(dtype, static_cast<const char*>(data) + index * bytes, 1, &value);
  return value;
}

void EncodeElement(DType dtype, double value, void* data, int64_t index) {
  switch (dtype) {
    case DType::kBool:
      return Store<uint8_t>(data, index, value != 0 ? 1 : 0);
    case DType::kUInt8:
      return StoreInteger<uint8_t>(value, data, index);
    case DType::kInt8:
      return StoreInteger<int8_t>(value, data, index);
    case DType::kInt16:
      return StoreInteger<int16_t>(value, data, index);
    case DType::kInt32:
      return StoreInteger<int32_t>(value, data, index);
    case DType::kInt64:
      return StoreInteger<int64_t>(value, data, index);
    case DType::kUInt16:
      return StoreInteger<uint16_t>(value, data, index);
    case DType::kUInt32:
      return StoreInteger<uint32_t>(value, data, index);
    case DType::kUInt64:
      return StoreInteger<uint64_t>(value, data, index);
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      return Store<uint8_t>(data, index,
                            static_cast<uint8_t>(EncodeBits(FormatOf(dtype), 8, value)));
    case DType::kFloat16:
    case DType::kBFloat16:
      return Store<uint16_t>(data, index,
                             static_cast<uint16_t>(EncodeBits(FormatOf(dtype), 16, value)));
    case DType::kFloat32:
    case DType::kComplex64:
      return Store<float>(data, index, static_cast<float>(value));
    case DType::kFloat64:
    case DType::kComplex128:
      return Store<double>(data, index, value);
  }
}

}  // namespace kerf::verify
