// TCVT and TPACK: from one element type to another.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <kerf_pto/numbers.h>

#include "sim/machine/aligned.h"

namespace kerf::sim {
namespace {

using kerf_pto::Rounding;

double Rounded(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kRound:
      return std::round(value);
    case Rounding::kFloor:
      return std::floor(value);
    case Rounding::kCeil:
      return std::ceil(value);
    case Rounding::kTrunc:
      return std::trunc(value);
    case Rounding::kOdd: {
      const double down = std::trunc(value);
      return down == value || std::fmod(down, 2) != 0 ? down : down + (value < 0 ? -1 : 1);
    }
    default:
      return std::nearbyint(value);
  }
}

struct Range {
  int64_t low;
  int64_t high;
};
Range RangeOf(Type type) {
  switch (type) {
    case Type::kI4:
      return {-8, 7};
    case Type::kI8:
      return {-128, 127};
    case Type::kU8:
      return {0, 255};
    case Type::kBool:
      return {0, 1};
    case Type::kI16:
      return {-32768, 32767};
    case Type::kU16:
      return {0, 65535};
    case Type::kI32:
      return {INT32_MIN, INT32_MAX};
    case Type::kU32:
      return {0, UINT32_MAX};
    case Type::kU64:
      return {0, INT64_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

// NaN becomes 0. Without saturation the low bits remain, of a value that fits into 64.
int64_t ToInteger(float value, Rounding rounding, const Range& range, bool saturate) {
  if (std::isnan(value)) return 0;
  const double rounded = Rounded(value, rounding);
  constexpr double kTop = 9223372036854775808.0;
  int64_t integer = 0;
  if (rounded >= kTop)
    integer = INT64_MAX;
  else if (rounded <= -kTop)
    integer = INT64_MIN;
  else
    integer = static_cast<int64_t>(rounded);
  return saturate ? std::clamp(integer, range.low, range.high) : integer;
}

const kerf_pto::SmallFloat* FormatOf(Type type) {
  switch (type) {
    case Type::kF32:
      return &kerf_pto::kFloatFormat;
    case Type::kF16:
      return &kerf_pto::kHalfFormat;
    case Type::kBf16:
      return &kerf_pto::kBfloat16Format;
    case Type::kE4M3:
      return &kerf_pto::kE4M3Format;
    case Type::kE5M2:
      return &kerf_pto::kE5M2Format;
    case Type::kE2M1x2:
      return &kerf_pto::kE2M1Format;
    case Type::kE1M2x2:
      return &kerf_pto::kE1M2Format;
    default:
      return nullptr;
  }
}

struct Conversion {
  Type from;
  Type to;
  Rounding rounding;
  bool saturate;
};

void ConvertReals(const Conversion& how, std::vector<float>& x, TileIo& d, int64_t row) {
  const auto n = static_cast<int64_t>(x.size());
  if (!IsFloat(how.to)) {
    std::vector<int64_t> out(x.size());
    const Range range = RangeOf(how.to);
    for (size_t i = 0; i < x.size(); ++i)
      out[i] = ToInteger(x[i], how.rounding, range, how.saturate);
    return d.WriteInteger(row, 0, n, out.data());
  }
  if (how.from == Type::kF32 && how.to == Type::kF32) {  // to whole numbers
    if (how.rounding != Rounding::kNone) {
      for (float& value : x) value = static_cast<float>(Rounded(value, how.rounding));
    }
    return d.WriteReal(row, 0, n, x.data());
  }
  const kerf_pto::SmallFloat* format = FormatOf(how.to);
  const bool nearest = how.rounding == Rounding::kRint || how.rounding == Rounding::kNone;
  if (how.to == Type::kF32 || nearest || format == nullptr) return d.WriteReal(row, 0, n, x.data());
  for (float& value : x) {
    value = kerf_pto::DecodeSmall(kerf_pto::EncodeFloat(value, *format, how.rounding), *format);
  }
  d.WriteReal(row, 0, n, x.data());
}

void ConvertIntegers(const Conversion& how, std::vector<int64_t>& x, TileIo& d, int64_t row) {
  const auto n = static_cast<int64_t>(x.size());
  if (!IsFloat(how.to)) {
    const Range range = RangeOf(how.to);
    if (how.saturate) {
      for (int64_t& value : x) value = std::clamp(value, range.low, range.high);
    }
    return d.WriteInteger(row, 0, n, x.data());
  }
  const kerf_pto::SmallFloat* format = FormatOf(how.to);
  std::vector<float> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const bool negative = x[i] < 0;
    const uint64_t magnitude = negative ? -U(x[i]) : U(x[i]);
    out[i] =
        format == nullptr
            ? static_cast<float>(x[i])
            : kerf_pto::DecodeSmall(
                  kerf_pto::EncodeSmall(negative, magnitude, 0, *format, how.rounding), *format);
  }
  d.WriteReal(row, 0, n, out.data());
}

// Two values in a byte: fp4 from and to bfloat16, int4 from and to float16.
void CheckPacked(Unit& unit, Type from, Type to) {
  const bool packed_from = kerf_pto::PerByte(from) != 1;
  if (!packed_from && kerf_pto::PerByte(to) == 1) return;
  const Type packed = packed_from ? from : to;
  const Type other = packed_from ? to : from;
  if (other == (packed == Type::kI4 ? Type::kF16 : Type::kBf16)) return;
  unit.complaints().Fail(FindingKind::kUnsupported,
                         std::string("TCVT of ") + TypeName(from) + " to " + TypeName(to));
}

void Convert(Unit& unit, const Call& call) {
  CheckPacked(unit, call.tile[1].type, call.tile[0].type);
  const Shapes shapes = Align(unit, call, 2);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  const Conversion how{shapes.tile[1].type, shapes.tile[0].type,
                       static_cast<Rounding>(call.option[0]), call.option[1] == 0};
  const auto n = static_cast<size_t>(shapes.cols);
  std::vector<float> reals(n);
  std::vector<int64_t> integers(n);
  // Widening in place must not read what was just written.
  const bool backwards = d.element_bytes() > a.element_bytes();
  for (int64_t i = 0; i < shapes.rows; ++i) {
    const int64_t r = backwards ? shapes.rows - 1 - i : i;
    if (IsFloat(how.from)) {
      a.ReadReal(r, 0, shapes.cols, reals.data());
      ConvertReals(how, reals, d, r);
    } else {
      a.ReadInteger(r, 0, shapes.cols, integers.data());
      ConvertIntegers(how, integers, d, r);
    }
  }
  unit.Close(a, "source");
}

}  // namespace

bool ExecuteConvert(Unit& unit, const Call& call) {
  if (call.op != Op::TCVT && call.op != Op::TPACK) return false;
  Convert(unit, call);
  return true;
}

}  // namespace kerf::sim
