// TQUANT and TDEQUANT.
//
// MX (OCP): 32 neighbours share the exponent of their largest magnitude, less that of the format's
// largest number; the values are divided by it and saturated. The documents speak of stochastic
// rounding; here it is to nearest even, so that a run can be repeated.
#include <algorithm>
#include <cmath>
#include <vector>

#include <kerf_pto/numbers.h>

#include "sim/machine/aligned.h"

namespace kerf::sim {
namespace {

// A parameter of the row: in a column, in a row of all rows' parameters, or one for all.
float ParameterOf(TileIo& io, int64_t row) {
  const TileRef& tile = io.tile();
  float value = 0;
  if (tile.valid_rows > 1 || tile.valid_cols <= 1)
    io.ReadReal(std::min<int64_t>(row, tile.valid_rows - 1), 0, 1, &value);
  else
    io.ReadReal(0, std::min<int64_t>(row, tile.valid_cols - 1), 1, &value);
  return value;
}

void ToBytes(Unit& unit, const Call& call) {
  const Shapes shapes = Align(unit, call, 2);
  const Type to = shapes.tile[0].type;
  const bool with_offset = call.option[1] != 0;
  const bool known = shapes.tile[1].type == Type::kF32 && call.tile[2].type == Type::kF32 &&
                     to == (with_offset ? Type::kU8 : Type::kI8);
  if (!known) Unsupported(unit, call);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  TileIo scales = unit.Open(call.tile[2]);
  TileIo offsets = with_offset ? unit.Open(call.tile[3]) : scales;
  const double low = with_offset ? 0 : -128;
  const double high = with_offset ? 255 : 127;
  std::vector<float> x(static_cast<size_t>(shapes.cols));
  std::vector<int64_t> out(x.size());
  for (int64_t r = 0; r < shapes.rows; ++r) {
    const float scale = ParameterOf(scales, r);
    const double offset = with_offset ? static_cast<double>(ParameterOf(offsets, r)) : 0;
    a.ReadReal(r, 0, shapes.cols, x.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double rounded = std::nearbyint(static_cast<double>(x[i] / scale)) + offset;
      out[i] = std::isnan(rounded) ? 0 : static_cast<int64_t>(std::clamp(rounded, low, high));
    }
    d.WriteInteger(r, 0, shapes.cols, out.data());
  }
  unit.Close(a, "source");
  unit.Close(scales, "the scales");
  if (with_offset) unit.Close(offsets, "the offsets");
}

void FromIntegers(Unit& unit, const Call& call) {
  const Shapes shapes = Align(unit, call, 2);
  const Type from = shapes.tile[1].type;
  const bool known = shapes.tile[0].type == Type::kF32 && call.tile[2].type == Type::kF32 &&
                     (from == Type::kI8 || from == Type::kI16);
  if (!known) Unsupported(unit, call);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  TileIo scales = unit.Open(call.tile[2]);
  TileIo offsets = unit.Open(call.tile[3]);
  std::vector<int64_t> x(static_cast<size_t>(shapes.cols));
  std::vector<float> out(x.size());
  for (int64_t r = 0; r < shapes.rows; ++r) {
    const float scale = ParameterOf(scales, r);
    const float offset = ParameterOf(offsets, r);
    a.ReadInteger(r, 0, shapes.cols, x.data());
    for (size_t i = 0; i < x.size(); ++i) out[i] = (static_cast<float>(x[i]) - offset) * scale;
    d.WriteReal(r, 0, shapes.cols, out.data());
  }
  unit.Close(a, "source");
  unit.Close(scales, "the scales");
  unit.Close(offsets, "the offsets");
}

// 2^(shared - 127) is what the group is divided by.
int SharedExponent(const std::vector<float>& group, int largest_exponent) {
  float largest = 0;
  for (const float x : group) largest = std::max(largest, std::fabs(x));
  const auto biased = static_cast<int>(kerf_pto::BitsOfFloat(largest) >> 23);
  return std::clamp(biased - largest_exponent, 0, 254);
}

// Tiles: values, exponents, source; option 1: groups lie along rows, else along columns.
void ToMx(Unit& unit, const Call& call) {
  constexpr int64_t kGroup = 32;
  const TileRef& source = call.tile[2];
  const bool four = call.tile[0].type == Type::kE2M1x2;
  const bool half = source.type == Type::kF16 || source.type == Type::kBf16;
  const bool bytes = TypeBytes(call.tile[0].type) == 1 && TypeBytes(call.tile[1].type) == 1;
  if (!IsFloat(source.type) || !bytes || (four && !half) ||
      (!four && kerf_pto::PerByte(call.tile[0].type) != 1))
    Unsupported(unit, call);
  const kerf_pto::SmallFloat format = four ? kerf_pto::kE2M1Format : kerf_pto::kE4M3Format;
  const int largest_exponent = four ? 2 : 8;  // of 6 and of 448
  const bool along = call.option[1] != 0;
  const int64_t depth = along ? source.valid_cols : source.valid_rows;
  const int64_t lines = along ? source.valid_rows : source.valid_cols;
  if (depth % kGroup != 0)
    unit.complaints().Fail(FindingKind::kShape,
                           std::to_string(depth) + " elements are no groups of 32");
  TileIo d = unit.Open(call.tile[0]);
  TileIo exponents = unit.Open(call.tile[1]);
  TileIo a = unit.Open(source);
  std::vector<float> group(kGroup);
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t g = 0; g < depth / kGroup; ++g) {
      const auto place = [&](int64_t i, int64_t& row, int64_t& col) {
        row = along ? line : g * kGroup + i;
        col = along ? g * kGroup + i : line;
      };
      int64_t row = 0;
      int64_t col = 0;
      for (int64_t i = 0; i < kGroup; ++i) {
        place(i, row, col);
        a.ReadReal(row, col, 1, &group[static_cast<size_t>(i)]);
      }
      const int shared = SharedExponent(group, largest_exponent);
      const auto byte = static_cast<uint8_t>(shared);
      exponents.Write(along ? line : g, along ? g : line, 1, &byte);
      for (int64_t i = 0; i < kGroup; ++i) {
        place(i, row, col);
        const float scaled = std::ldexp(group[static_cast<size_t>(i)], 127 - shared);
        const auto bits = static_cast<uint8_t>(
            kerf_pto::EncodeFloat(scaled, format, kerf_pto::Rounding::kRint, true));
        d.Write(row, col, 1, &bits);
      }
    }
  }
  unit.Close(a, "source");
}

}  // namespace

bool ExecuteQuantize(Unit& unit, const Call& call) {
  if (call.op == Op::TDEQUANT) {
    FromIntegers(unit, call);
    return true;
  }
  if (call.op != Op::TQUANT) return false;
  call.option[0] != 0 ? ToMx(unit, call) : ToBytes(unit, call);
  return true;
}

}  // namespace kerf::sim
