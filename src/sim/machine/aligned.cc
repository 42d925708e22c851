#include "sim/machine/aligned.h"

#include <algorithm>

namespace kerf::sim {
namespace {

// Column vectors are walked along their columns: the loops over rows then do all the work.
TileRef Turned(TileRef tile) {
  std::swap(tile.rows, tile.cols);
  std::swap(tile.valid_rows, tile.valid_cols);
  tile.form = Form::kNd;
  return tile;
}

}  // namespace

Shapes Align(Unit& unit, const Call& call, int count) {
  Shapes shapes;
  bool columns = true;
  for (int i = 0; i < count; ++i) columns = columns && call.tile[i].form == Form::kDn;
  for (int i = 0; i < count; ++i) shapes.tile[i] = columns ? Turned(call.tile[i]) : call.tile[i];
  shapes.rows = shapes.tile[0].valid_rows;
  shapes.cols = shapes.tile[0].valid_cols;
  for (int i = 1; i < count; ++i) {
    const TileRef& source = shapes.tile[i];
    if (source.valid_rows >= shapes.rows && source.valid_cols >= shapes.cols) continue;
    unit.complaints().Warn(FindingKind::kShape,
                           "source " + std::to_string(i) + " is valid for " +
                               std::to_string(source.valid_rows) + "x" +
                               std::to_string(source.valid_cols) + ", the destination for " +
                               std::to_string(shapes.rows) + "x" + std::to_string(shapes.cols));
    shapes.rows = std::min<int64_t>(shapes.rows, source.valid_rows);
    shapes.cols = std::min<int64_t>(shapes.cols, source.valid_cols);
  }
  return shapes;
}

void CheckTypes(Unit& unit, const Call& call, int count) {
  for (int i = 1; i < count; ++i) {
    if (call.tile[i].type == call.tile[0].type) continue;
    unit.complaints().Fail(FindingKind::kUnsupported, std::string(OpName(call.op)) + " on " +
                                                          TypeName(call.tile[0].type) + " and " +
                                                          TypeName(call.tile[i].type));
  }
}

void Unsupported(Unit& unit, const Call& call) {
  unit.complaints().Fail(FindingKind::kUnsupported,
                         std::string(OpName(call.op)) + " on " + TypeName(call.tile[0].type));
}

}  // namespace kerf::sim
