// Transfers between on-chip memories, padding and filling.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <kerf_pto/numbers.h>

#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

bool Integral(Type type) { return !IsFloat(type); }

// A region copied, converted when the types differ: the fixpipe casts on the way.
struct Region {
  int64_t to_row = 0, to_col = 0, from_row = 0, from_col = 0, rows = 0, cols = 0;
};
void CopyRegion(Unit& unit, const Call& call, const Region& region, bool relu) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const Type to = call.tile[0].type;
  const Type from = call.tile[1].type;
  if (to == from && !relu) {
    std::vector<char> line(static_cast<size_t>(region.cols) * d.element_bytes());
    for (int64_t r = 0; r < region.rows; ++r) {
      a.Read(region.from_row + r, region.from_col, region.cols, line.data());
      d.Write(region.to_row + r, region.to_col, region.cols, line.data());
    }
  } else if (IsFloat(from) && IsFloat(to)) {
    std::vector<float> line(static_cast<size_t>(region.cols));
    for (int64_t r = 0; r < region.rows; ++r) {
      a.ReadReal(region.from_row + r, region.from_col, region.cols, line.data());
      if (relu)
        for (float& x : line) x = std::max(x, 0.0F);
      d.WriteReal(region.to_row + r, region.to_col, region.cols, line.data());
    }
  } else if (Integral(from) && Integral(to)) {
    std::vector<int64_t> line(static_cast<size_t>(region.cols));
    for (int64_t r = 0; r < region.rows; ++r) {
      a.ReadInteger(region.from_row + r, region.from_col, region.cols, line.data());
      if (relu)
        for (int64_t& x : line) x = std::max<int64_t>(x, 0);
      d.WriteInteger(region.to_row + r, region.to_col, region.cols, line.data());
    }
  } else {
    unit.complaints().Fail(FindingKind::kUnsupported, std::string(OpName(call.op)) + " from " +
                                                          TypeName(from) + " to " + TypeName(to));
  }
  unit.Close(a, "source");
}

void Move(Unit& unit, const Call& call) {
  const TileRef& d = call.tile[0];
  const TileRef& a = call.tile[1];
  Region region;
  if (call.op == Op::TMOV) {
    region.rows = std::min(d.valid_rows, a.valid_rows);
    region.cols = std::min(d.valid_cols, a.valid_cols);
  } else if (call.op == Op::TEXTRACT) {
    region = {0, 0, call.option[0], call.option[1], d.valid_rows, d.valid_cols};
  } else {
    region = {call.option[0], call.option[1], 0, 0, a.valid_rows, a.valid_cols};
  }
  const TileRef& outer = call.op == Op::TINSERT ? d : a;
  const int64_t row = call.op == Op::TINSERT ? region.to_row : region.from_row;
  const int64_t col = call.op == Op::TINSERT ? region.to_col : region.from_col;
  if (row < 0 || col < 0 || row + region.rows > outer.rows || col + region.cols > outer.cols) {
    unit.complaints().Fail(FindingKind::kShape,
                           "the window of " + std::to_string(region.rows) + "x" +
                               std::to_string(region.cols) + " at (" + std::to_string(row) + ", " +
                               std::to_string(col) + ") leaves the " + std::to_string(outer.rows) +
                               "x" + std::to_string(outer.cols) + " tile");
  }
  CopyRegion(unit, call, region, call.option[2] != 0);
}

// The bits of one element that stands for the tile's pad value.
std::vector<char> PadElement(const TileRef& tile) {
  std::vector<char> bytes(TypeBytes(tile.type), 0);
  if (IsFloat(tile.type)) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float value = tile.pad == 2   ? infinity
                        : tile.pad == 3 ? -infinity
                        : tile.pad == 4 ? kerf_pto::FloatOfBits(tile.pad_bits)
                                        : 0.0F;
    EncodeReals(tile.type, &value, 1, bytes.data());
    return bytes;
  }
  const int bits = static_cast<int>(bytes.size()) * 8;
  const bool is_signed = tile.type == Type::kI8 || tile.type == Type::kI16 ||
                         tile.type == Type::kI32 || tile.type == Type::kI64;
  const int64_t top = is_signed ? static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : -1;
  const int64_t bottom = is_signed ? -top - 1 : 0;
  int64_t value = 0;
  if (tile.pad == 2) value = top;
  if (tile.pad == 3) value = bottom;
  if (tile.pad == 4) value = static_cast<int64_t>(kerf_pto::FloatOfBits(tile.pad_bits));
  EncodeIntegers(tile.type, &value, 1, bytes.data());
  return bytes;
}

std::vector<char> Repeat(const std::vector<char>& element, int64_t count) {
  std::vector<char> line;
  line.reserve(element.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) line.insert(line.end(), element.begin(), element.end());
  return line;
}

// What the source does not cover becomes the pad value, up to the destination's capacity.
void FillPad(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  if (call.tile[0].type != call.tile[1].type) {
    unit.complaints().Fail(FindingKind::kUnsupported, "TFILLPAD between different types");
  }
  const int64_t rows = std::min(call.tile[1].valid_rows, call.tile[0].rows);
  const int64_t cols = std::min(call.tile[1].valid_cols, call.tile[0].cols);
  const bool in_place = call.op == Op::TFILLPAD_INPLACE;
  std::vector<char> line(static_cast<size_t>(cols) * d.element_bytes());
  if (!in_place) {
    for (int64_t r = 0; r < rows; ++r) {
      a.Read(r, 0, cols, line.data());
      d.Write(r, 0, cols, line.data());
    }
    unit.Close(a, "source");
  }
  if (call.tile[0].pad == 0) return;
  const std::vector<char> pad = Repeat(PadElement(call.tile[0]), call.tile[0].cols);
  for (int64_t r = 0; r < call.tile[0].rows; ++r) {
    const int64_t from = r < rows ? cols : 0;
    if (from < call.tile[0].cols) d.Write(r, from, call.tile[0].cols - from, pad.data());
  }
}

void Fill(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  const TileRef& tile = call.tile[0];
  std::vector<char> element(TypeBytes(tile.type));
  const auto real = static_cast<float>(call.number.real);
  if (IsFloat(tile.type))
    EncodeReals(tile.type, &real, 1, element.data());
  else
    EncodeIntegers(tile.type, &call.number.integer, 1, element.data());
  const bool whole = tile.mem == Mem::kL1;
  const int64_t rows = whole ? tile.rows : tile.valid_rows;
  const int64_t cols = whole ? tile.cols : tile.valid_cols;
  const std::vector<char> line = Repeat(element, cols);
  for (int64_t r = 0; r < rows; ++r) d.Write(r, 0, cols, line.data());
}

}  // namespace

bool ExecuteMove(Unit& unit, const Call& call) {
  switch (call.op) {
    case Op::TMOV:
    case Op::TEXTRACT:
    case Op::TINSERT:
      Move(unit, call);
      return true;
    case Op::TFILLPAD:
    case Op::TFILLPAD_INPLACE:
    case Op::TFILLPAD_EXPAND:
      FillPad(unit, call);
      return true;
    case Op::TEXPANDS:
      Fill(unit, call);
      return true;
    default:
      return false;
  }
}

}  // namespace kerf::sim
