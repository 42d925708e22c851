// Matrices whose values share bytes, for tests: kept as codes, written to global memory by hand.
#pragma once

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {

// What the 4-bit codes mean, from the formats' descriptions: sign, then these.
template <typename T>
double CodeValue(int code) {
  constexpr double kE2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  constexpr double kE1M2[] = {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75};
  if constexpr (std::is_same_v<T, int4b_t>) return code < 8 ? code : code - 16;
  const double size = std::is_same_v<T, float4_e2m1x2_t> ? kE2M1[code & 7] : kE1M2[code & 7];
  return code < 8 ? size : -size;
}

// In global memory two neighbours of a row share a byte or, when `by_column`, two of a column; the
// first has the low half.
template <typename T>
struct Codes {
  Codes(int rows_, int cols_, bool by_column_ = false)
      : rows(rows_), cols(cols_), by_column(by_column_), bytes((rows_ * cols_ + 1) / 2) {}
  static Codes Random(int rows, int cols, int seed, bool by_column = false) {
    Codes codes(rows, cols, by_column);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (T& byte : codes.bytes) byte.bits = static_cast<uint8_t>(random());
    return codes;
  }
  int Code(int r, int c) const {
    const int at = by_column ? c * rows + r : r * cols + c;
    const uint8_t byte = bytes[static_cast<size_t>(at / 2)].bits;
    return at % 2 == 0 ? byte & 15 : byte >> 4;
  }
  double Value(int r, int c) const { return CodeValue<T>(Code(r, c)); }

  auto View() {
    return pto::GlobalTensor<T, DynamicShape, DynamicStride>(
        bytes.data(), DynamicShape(rows, cols),
        DynamicStride(rows * cols, rows * cols, rows * cols, cols, 1));
  }
  auto ColumnsView() {
    return pto::GlobalTensor<T, DynamicShape, DynamicStride, pto::Layout::DN>(
        bytes.data(), DynamicShape(rows, cols),
        DynamicStride(rows * cols, rows * cols, rows * cols, 1, rows));
  }
  void AddTo(GlobalMemory& global, const char* name) {
    global.AddRegion(name, bytes.data(), bytes.size());
  }

  int rows, cols;
  bool by_column;
  std::vector<T> bytes;
};

}  // namespace kerf::sim
