// Transfers between on-chip memories, padding and filling.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <kerf_pto/numbers.h>

#include "sim/machine/fixpipe.h"
#include "sim/machine/move_parts.h"

namespace kerf::sim {
namespace {

// Casting, scaling and relu are the fixpipe's; elsewhere bytes move as they are.
void CopyRegion(Unit& unit, const Call& call, const MovePart& part) {
  TileIo d = unit.Open(part.to);
  TileIo a = unit.Open(call.tile[1]);
  Finish finish{call.tile[1].type, part.to.type, call.option[2] != 0, {}};
  if (call.tiles == 3)
    finish.scales = ScalesOf(unit, call.tile[2], part.from_col + part.cols);
  else if (call.number.integer != 0)
    finish.scales = {static_cast<float>(call.number.real)};
  if (finish.scales.size() > 1)
    finish.scales.erase(finish.scales.begin(), finish.scales.begin() + part.from_col);
  std::vector<char> line(static_cast<size_t>(part.cols) *
                         std::max(d.element_bytes(), a.element_bytes()));
  for (int64_t r = 0; r < part.rows; ++r) {
    FinishRow(unit, call, a, part.from_row + r, part.from_col, part.cols, finish, line.data());
    d.Write(part.to_row + r, part.to_col, part.cols, line.data());
  }
  unit.Close(a, "source");
}

void CheckWindow(Unit& unit, const MovePart& part, const TileRef& outer, int64_t row, int64_t col) {
  if (row >= 0 && col >= 0 && row + part.rows <= outer.rows && col + part.cols <= outer.cols)
    return;
  unit.complaints().Fail(FindingKind::kShape, "the window of " + std::to_string(part.rows) + "x" +
                                                  std::to_string(part.cols) + " at (" +
                                                  std::to_string(row) + ", " + std::to_string(col) +
                                                  ") leaves the " + std::to_string(outer.rows) +
                                                  "x" + std::to_string(outer.cols) + " tile");
}

void Move(Unit& unit, const Call& call) {
  for (const MovePart& part : MovePartsOf(call)) {
    CheckWindow(unit, part, part.to, part.to_row, part.to_col);
    CheckWindow(unit, part, call.tile[1], part.from_row, part.from_col);
    CopyRegion(unit, call, part);
  }
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
    case Op::TMOV_FP:
    case Op::TEXTRACT:
    case Op::TEXTRACT_FP:
    case Op::TINSERT:
    case Op::TINSERT_FP:
      Move(unit, call);
      return true;
    case Op::TPUSH:  // into a ring on the chip
      if (call.globals != 0) return false;
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
