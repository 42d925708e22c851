// Which regions a transfer between on-chip memories copies: one, or one into each vector core.
#pragma once

#include <vector>

#include "sim/machine/unit.h"

namespace kerf::sim {

struct MovePart {
  TileRef to;  // with its owner
  int64_t to_row = 0, to_col = 0, from_row = 0, from_col = 0, rows = 0, cols = 0;
};

// Of TMOV, TEXTRACT, TINSERT and their _FP forms, and of TPUSH into a ring on the chip.
std::vector<MovePart> MovePartsOf(const Call& call);

// A region of a tile as a tile: its bytes exactly for ND and DN, and for NZ where it takes whole
// columns of boxes (then as rows of memory, one for each). Else the tile.
TileRef RegionOf(const TileRef& tile, int64_t row, int64_t col, int64_t rows, int64_t cols);

}  // namespace kerf::sim
