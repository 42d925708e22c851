#include "artifact/scalar_bits.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace kerf {
namespace {

struct FloatFormat {
  int mantissa_bits;
  int exponent_bits;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] uint64_t infinity() const {
    return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  [[nodiscard]] uint64_t nan() const { return infinity() | (uint64_t{1} << (mantissa_bits - 1)); }
  [[nodiscard]] uint64_t sign() const { return uint64_t{1} << (mantissa_bits + exponent_bits); }
};

FloatFormat FormatOf(ArgType type) {
  if (type == ArgType::kFloat16) return {10, 5};
  if (type == ArgType::kBFloat16) return {7, 8};
  if (type == ArgType::kFloat32) return {23, 8};
  return {52, 11};
}

// The magnitude's bits; infinity() when it does not fit. The scaled value is exact, so that the one
// rounding is nearbyint's, to nearest even.
uint64_t MagnitudeBits(FloatFormat format, double magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - format.bias());
  auto scaled =
      static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  if (scaled >> (format.mantissa_bits + 1) != 0) {
    scaled >>= 1;
    ++exponent;
  }
  if (exponent > format.bias()) return format.infinity();
  if (scaled >> format.mantissa_bits == 0) return scaled;  // subnormal or zero
  const auto biased = static_cast<uint64_t>(exponent + format.bias());
  return (biased << format.mantissa_bits) | (scaled & ((uint64_t{1} << format.mantissa_bits) - 1));
}

std::optional<double> SpecialFloat(const std::string& text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "$Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-$Inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Result<uint64_t> EncodeFloat(ArgType type, const JsonPlace& value) {
  double number = 0;
  if (value.is(JsonType::kString)) {
    const auto special = SpecialFloat(value.node().text);
    if (!special) return value.Wrong("\"" + Brief(value.node().text) + "\" is no number");
    number = *special;
  } else {
    KERF_ASSIGN_OR_RETURN(number, value.Double());
  }
  if (const auto bits = FloatBits(type, number)) return *bits;
  return value.Wrong(value.node().text + " does not fit in " + ArgTypeName(type));
}

uint64_t WidthMask(ArgType type) {
  const size_t bytes = ArgTypeBytes(type);
  return bytes >= 8 ? UINT64_MAX : (uint64_t{1} << (8 * bytes)) - 1;
}

// 3.0 is 3; 3.5 is an error.
Result<uint64_t> EncodeInteger(ArgType type, const JsonPlace& value) {
  const bool is_signed = ArgTypeFamily(type) == ArgFamily::kSigned;
  const uint64_t mask = WidthMask(type);
  if (value.is(JsonType::kNumber) && !value.IsWhole()) {
    KERF_ASSIGN_OR_RETURN(const double number, value.Double());
    if (number != std::trunc(number) || std::fabs(number) > 9007199254740992.0) {
      return value.Wrong(value.node().text + " is no whole number, and " + ArgTypeName(type) +
                         " holds nothing else");
    }
    if (is_signed || number >= 0) {
      const auto whole = static_cast<int64_t>(number);
      const auto bits = static_cast<uint64_t>(whole);
      const auto half = static_cast<int64_t>(mask >> 1);
      const bool fits = is_signed ? whole <= half && whole >= -half - 1 : bits <= mask;
      if (fits) return bits & mask;
    }
    return value.Wrong(value.node().text + " does not fit in " + ArgTypeName(type));
  }
  if (!is_signed) {
    KERF_ASSIGN_OR_RETURN(const uint64_t bits, value.Unsigned());
    if (bits <= mask) return bits;
  } else {
    KERF_ASSIGN_OR_RETURN(const int64_t number, value.Int());
    const auto half = static_cast<int64_t>(mask >> 1);
    if (number <= half && number >= -half - 1) return static_cast<uint64_t>(number) & mask;
  }
  return value.Wrong(value.node().text + " does not fit in " + ArgTypeName(type));
}

Result<uint64_t> EncodeBool(const JsonPlace& value) {
  if (value.is(JsonType::kBool)) return uint64_t{value.node().boolean ? 1U : 0U};
  if (value.IsWhole() && (value.node().text == "0" || value.node().text == "1")) {
    return uint64_t{value.node().text == "1" ? 1U : 0U};
  }
  return value.Wrong("BOOL takes true, false, 1 or 0");
}

// The shortest digits that read back as the same double, with a point so that it stays a float.
std::string FloatLiteral(ArgType type, double value) {
  char buffer[40];
  const auto end = type == ArgType::kFloat64
                       ? std::to_chars(buffer, buffer + sizeof buffer, value)
                       : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::optional<uint64_t> FloatBits(ArgType type, double value) {
  if (ArgTypeFamily(type) != ArgFamily::kFloat) return std::nullopt;
  const FloatFormat format = FormatOf(type);
  if (std::isnan(value)) return format.nan();
  const uint64_t sign = std::signbit(value) ? format.sign() : 0;
  if (std::isinf(value)) return sign | format.infinity();
  const uint64_t magnitude = MagnitudeBits(format, std::fabs(value));
  if (magnitude == format.infinity()) return std::nullopt;
  return sign | magnitude;
}

double FloatOf(ArgType type, uint64_t bits) {
  const FloatFormat format = FormatOf(type);
  const double sign = (bits & format.sign()) != 0 ? -1.0 : 1.0;
  const uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  const uint64_t exponent =
      (bits >> format.mantissa_bits) & ((uint64_t{1} << format.exponent_bits) - 1);
  if (exponent == (uint64_t{1} << format.exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const uint64_t hidden = exponent == 0 ? 0 : uint64_t{1} << format.mantissa_bits;
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias();
  return sign * std::ldexp(static_cast<double>(mantissa | hidden), scale - format.mantissa_bits);
}

Result<uint64_t> EncodeScalar(ArgType type, const JsonPlace& value) {
  switch (ArgTypeFamily(type)) {
    case ArgFamily::kFloat:
      return EncodeFloat(type, value);
    case ArgFamily::kSigned:
    case ArgFamily::kUnsigned:
      return EncodeInteger(type, value);
    case ArgFamily::kBool:
      return EncodeBool(value);
    case ArgFamily::kRaw:
      break;
  }
  return value.Wrong(std::string(ArgTypeName(type)) + " takes \"bits\", not a value");
}

Result<uint64_t> EncodeRawBits(ArgType type, const JsonPlace& value) {
  uint64_t bits = 0;
  if (value.is(JsonType::kString)) {
    const std::string& text = value.node().text;
    const char* end = text.data() + text.size();
    const auto [stop, error] =
        std::from_chars(text.data() + std::min<size_t>(2, text.size()), end, bits, 16);
    if (text.rfind("0x", 0) != 0 || text.size() < 3 || error != std::errc() || stop != end) {
      return value.Wrong("bits are written as \"0x3e000000\", not \"" + Brief(text) + "\"");
    }
  } else {
    KERF_ASSIGN_OR_RETURN(bits, value.Unsigned());
  }
  if (bits > WidthMask(type)) {
    return value.Wrong(fmt::format("{:#x} is wider than {}", bits, ArgTypeName(type)));
  }
  return bits;
}

std::optional<std::string> ScalarLiteral(ArgType type, uint64_t bits) {
  if (bits > WidthMask(type)) return std::nullopt;
  switch (ArgTypeFamily(type)) {
    case ArgFamily::kFloat: {
      const double value = FloatOf(type, bits);
      if (FloatBits(type, value) != bits) return std::nullopt;
      if (std::isnan(value)) return "\"NaN\"";
      if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
      return FloatLiteral(type, value);
    }
    case ArgFamily::kSigned: {
      const auto shift = static_cast<unsigned>(64 - 8 * ArgTypeBytes(type));
      return std::to_string(static_cast<int64_t>(bits << shift) >> shift);
    }
    case ArgFamily::kUnsigned:
      return std::to_string(bits);
    case ArgFamily::kBool:
      if (bits > 1) return std::nullopt;
      return bits == 1 ? "true" : "false";
    case ArgFamily::kRaw:
      break;
  }
  return std::nullopt;
}

std::string ScalarText(const ScalarArg& scalar) {
  if (auto literal = ScalarLiteral(scalar.type, scalar.bits)) return *literal;
  return fmt::format("{:#x}", scalar.bits);
}

}  // namespace kerf
