#include "sim/machine/move_parts.h"

#include <algorithm>

namespace kerf::sim {
namespace {

// AccToVecMode, one more.
enum Mode : int64_t { kPlain, kVec0, kVec1, kSplitRows, kSplitCols };

constexpr uint8_t kFirstVector = 2;  // TileRef::owner

MovePart WholeOf(const Call& call) {
  const TileRef& d = call.tile[0];
  const TileRef& a = call.tile[1];
  MovePart part;
  part.to = d;
  switch (call.op) {
    case Op::TEXTRACT:
    case Op::TEXTRACT_FP:
      part.from_row = call.option[0];
      part.from_col = call.option[1];
      part.rows = d.valid_rows;
      part.cols = d.valid_cols;
      break;
    case Op::TINSERT:
    case Op::TINSERT_FP:
    case Op::TPUSH:
      part.to_row = call.option[0];
      part.to_col = call.option[1];
      part.rows = a.valid_rows;
      part.cols = a.valid_cols;
      break;
    default:
      part.rows = std::min(d.valid_rows, a.valid_rows);
      part.cols = std::min(d.valid_cols, a.valid_cols);
      if (call.option[3] == kSplitRows) part.rows = a.valid_rows;
      if (call.option[3] == kSplitCols) part.cols = a.valid_cols;
  }
  return part;
}

}  // namespace

std::vector<MovePart> MovePartsOf(const Call& call) {
  const MovePart whole = WholeOf(call);
  const bool to_vector = call.tile[1].mem == Mem::kL0c && call.tile[0].mem == Mem::kUb;
  if (!to_vector || call.tile[0].owner != 0) return {whole};
  std::vector<MovePart> parts = {whole};
  const int64_t mode = call.option[3];
  parts[0].to.owner = mode == kVec1 ? kFirstVector + 1 : kFirstVector;
  if (mode != kSplitRows && mode != kSplitCols) return parts;
  parts.push_back(whole);
  parts[1].to.owner = kFirstVector + 1;
  int64_t MovePart::*const size = mode == kSplitRows ? &MovePart::rows : &MovePart::cols;
  int64_t MovePart::*const from = mode == kSplitRows ? &MovePart::from_row : &MovePart::from_col;
  parts[0].*size = (whole.*size + 1) / 2;
  parts[1].*size = whole.*size - parts[0].*size;
  parts[1].*from += parts[0].*size;
  return parts;
}

TileRef RegionOf(const TileRef& tile, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  TileRef region = tile;
  const bool inside = row >= 0 && col >= 0 && row + rows <= tile.rows && col + cols <= tile.cols;
  if (!inside) return region;
  if (tile.form == Form::kNd || tile.form == Form::kDn) {
    region.addr += StoredBytes(tile.type, static_cast<uint64_t>(ElementOffset(tile, row, col)));
    region.valid_rows = static_cast<int32_t>(rows);
    region.valid_cols = static_cast<int32_t>(cols);
    return region;
  }
  const int64_t box = tile.box_cols;
  const bool whole = row == 0 && rows == tile.rows;
  if (tile.form != Form::kNz || whole || col % box != 0 || tile.rows % tile.box_rows != 0)
    return region;
  region.addr += StoredBytes(tile.type, static_cast<uint64_t>(col * tile.rows + row * box));
  region.form = Form::kNd;
  region.box_rows = region.box_cols = 1;
  region.rows = region.valid_rows = static_cast<int32_t>((cols + box - 1) / box);
  region.cols = static_cast<int32_t>(tile.rows * box);
  region.valid_cols = static_cast<int32_t>(rows * box);
  return region;
}

}  // namespace kerf::sim
