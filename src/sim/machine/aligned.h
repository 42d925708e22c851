// The region that an instruction on whole tiles works on, and its rows as numbers.
#pragma once

#include "sim/machine/unit.h"

namespace kerf::sim {

struct Shapes {
  TileRef tile[kerf_pto::kMostTiles];
  int64_t rows = 0;
  int64_t cols = 0;
};

// The destination's valid region for the first `count` tiles of a call. Complains about a source
// that does not cover it, and takes the part that both have.
Shapes Align(Unit& unit, const Call& call, int count);

// Fails unless tiles 1 to `count` - 1 have the destination's type.
void CheckTypes(Unit& unit, const Call& call, int count);
[[noreturn]] void Unsupported(Unit& unit, const Call& call);

// Integers that wrap.
inline uint64_t U(int64_t value) { return static_cast<uint64_t>(value); }
inline int64_t I(uint64_t value) { return static_cast<int64_t>(value); }

// A row as float, or as int64_t.
inline void ReadRow(TileIo& io, int64_t row, int64_t col, int64_t n, float* out) {
  io.ReadReal(row, col, n, out);
}
inline void ReadRow(TileIo& io, int64_t row, int64_t col, int64_t n, int64_t* out) {
  io.ReadInteger(row, col, n, out);
}
inline void WriteRow(TileIo& io, int64_t row, int64_t col, int64_t n, const float* x) {
  io.WriteReal(row, col, n, x);
}
inline void WriteRow(TileIo& io, int64_t row, int64_t col, int64_t n, const int64_t* x) {
  io.WriteInteger(row, col, n, x);
}

}  // namespace kerf::sim
