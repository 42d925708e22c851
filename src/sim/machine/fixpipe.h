// What the fixpipe does to accumulated values on their way out of L0C: relu, scale, cast.
#pragma once

#include <vector>

#include "sim/machine/unit.h"

namespace kerf::sim {

struct Finish {
  Type from{}, to{};
  bool relu = false;
  // Empty: only cast. One scale for all columns, or one for each.
  std::vector<float> scales;
};

// A quantization parameter of 64 bits: its lower half is the scale, a float.
float ScaleOf(uint64_t parameter);
// The parameters of `count` columns.
std::vector<float> ScalesOf(Unit& unit, const TileRef& parameters, int64_t count);

// `count` elements of a row as the bytes of finish.to; `line` has room for them in either type.
void FinishRow(Unit& unit, const Call& call, TileIo& io, int64_t row, int64_t col, int64_t count,
               const Finish& finish, char* line);

}  // namespace kerf::sim
