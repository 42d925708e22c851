// Instructions that make patterns, weave rows together or apart, and count.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "sim/machine/aligned.h"
#include "sim/machine/mask_pattern.h"

namespace kerf::sim {
namespace {

// Ones where the column is at most (at least) the row plus the diagonal.
void Triangle(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  const bool upper = call.option[0] != 0;
  const auto n = static_cast<size_t>(call.tile[0].valid_cols);
  std::vector<float> reals(n);
  std::vector<int64_t> integers(n);
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    for (size_t c = 0; c < n; ++c) {
      const int64_t edge = r + call.option[1];
      const bool one = upper ? I(c) >= edge : I(c) <= edge;
      reals[c] = one ? 1.0F : 0.0F;
      integers[c] = one ? 1 : 0;
    }
    if (IsFloat(call.tile[0].type))
      d.WriteReal(r, 0, I(n), reals.data());
    else
      d.WriteInteger(r, 0, I(n), integers.data());
  }
}

// Sums of neighbours in the lower half of a row, zeros in the upper one.
void PairSums(Unit& unit, const Call& call) {
  CheckTypes(unit, call, 2);
  if (!IsFloat(call.tile[0].type)) Unsupported(unit, call);
  const Shapes shapes = Align(unit, call, 2);
  TileIo d = unit.Open(shapes.tile[0]);
  TileIo a = unit.Open(shapes.tile[1]);
  const auto n = static_cast<size_t>(shapes.cols);
  std::vector<float> x(n + 1), sums(n);
  for (int64_t r = 0; r < shapes.rows; ++r) {
    a.ReadReal(r, 0, shapes.cols, x.data());
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (size_t k = 0; 2 * k < n; ++k) sums[k] = x[2 * k] + x[2 * k + 1];
    d.WriteReal(r, 0, shapes.cols, sums.data());
  }
  unit.Close(a, "source");
}

// Rows as bytes. Tiles: first and second result, first and second source, or one that holds both.
void Weave(Unit& unit, const Call& call) {
  CheckTypes(unit, call, call.tiles);
  const bool together = call.op == Op::TINTERLEAVE;
  const bool one_source = call.tiles == 3;
  const TileRef& d0 = call.tile[0];
  const TileRef& s0 = call.tile[2];
  const int64_t cols = one_source ? s0.valid_cols / 2 : s0.valid_cols;
  for (int i = 0; i < call.tiles; ++i) {
    const int64_t needed = one_source && i == 2 ? 2 * cols : cols;
    if (call.tile[i].cols < needed || call.tile[i].valid_rows < d0.valid_rows)
      unit.complaints().Fail(FindingKind::kShape, "tile " + std::to_string(i) + " has no " +
                                                      std::to_string(d0.valid_rows) + "x" +
                                                      std::to_string(needed) + " elements");
  }
  std::vector<TileIo> io;
  for (int i = 0; i < call.tiles; ++i) io.push_back(unit.Open(call.tile[i]));
  const size_t size = io[0].element_bytes();
  const auto half = static_cast<size_t>(cols) * size;
  std::vector<char> from(2 * half), to(2 * half);
  for (int64_t r = 0; r < d0.valid_rows; ++r) {
    io[2].Read(r, 0, one_source ? 2 * cols : cols, from.data());
    if (!one_source) io[3].Read(r, 0, cols, from.data() + half);
    for (size_t k = 0; k < static_cast<size_t>(2 * cols); ++k) {
      // Place k of the woven row comes from place `plain` of the two rows one behind the other.
      const size_t plain = k / 2 + k % 2 * static_cast<size_t>(cols);
      const size_t read = together ? plain : k;
      const size_t write = together ? k : plain;
      std::memcpy(to.data() + write * size, from.data() + read * size, size);
    }
    io[0].Write(r, 0, cols, to.data());
    io[1].Write(r, 0, cols, to.data() + half);
  }
  for (size_t i = 2; i < io.size(); ++i) unit.Close(io[i], "source");
}

// Every element into its place of a group of 2 or 4; the whole destination is cleared first.
void ScatterPattern(Unit& unit, const Call& call) {
  CheckTypes(unit, call, 2);
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const MaskPlaces places = PlacesOf(call.option[0]);
  const bool down = call.option[1] != 0;
  const int64_t rows = call.tile[1].valid_rows;
  const int64_t cols = call.tile[1].valid_cols;
  if (call.tile[0].rows < rows * (down ? places.step : 1) ||
      call.tile[0].cols < cols * (down ? 1 : places.step)) {
    unit.complaints().Fail(
        FindingKind::kShape,
        "the destination has no place for " + std::to_string(places.step) + " times the source");
  }
  const size_t size = d.element_bytes();
  std::vector<char> line(static_cast<size_t>(cols) * size);
  std::vector<char> all(static_cast<size_t>(rows) * line.size());
  for (int64_t r = 0; r < rows; ++r)
    a.Read(r, 0, cols, all.data() + static_cast<size_t>(r) * line.size());
  const std::vector<char> zeros(static_cast<size_t>(call.tile[0].cols) * size);
  for (int64_t r = 0; r < call.tile[0].rows; ++r) d.Write(r, 0, call.tile[0].cols, zeros.data());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const char* from = all.data() + static_cast<size_t>(r * cols + c) * size;
      if (down)
        d.Write(places.first + r * places.step, c, 1, from);
      else
        d.Write(r, places.first + c * places.step, 1, from);
    }
  }
  unit.Close(a, "source");
}

// How often each value of a byte occurs in a row, among elements whose bytes above are as given: a
// column of them (16 bits), or for each byte a line in which row r has column r (32 bits).
void Histogram(Unit& unit, const Call& call) {
  const TileRef& source = call.tile[1];
  const int64_t byte = call.option[0];
  const auto bytes = static_cast<int64_t>(TypeBytes(source.type));
  const bool known = call.tile[0].type == Type::kU32 && call.tile[2].type == Type::kU8 &&
                     (source.type == Type::kU16 || source.type == Type::kU32) && byte < bytes;
  if (!known) Unsupported(unit, call);
  if (call.tile[0].cols < 256)
    unit.complaints().Fail(FindingKind::kShape, "a histogram has 256 columns");
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(source);
  TileIo above = unit.Open(call.tile[2]);
  std::vector<int64_t> x(static_cast<size_t>(source.valid_cols));
  for (int64_t r = 0; r < source.valid_rows; ++r) {
    std::array<int64_t, 256> counts{};
    std::array<int64_t, 3> wanted{};
    for (int64_t k = bytes - 1; k > byte; --k) {
      const int64_t line = bytes - 1 - k;
      const int64_t col = std::min<int64_t>(r, call.tile[2].valid_cols - 1);
      above.ReadInteger(bytes == 2 ? r : line, bytes == 2 ? 0 : col, 1,
                        &wanted[static_cast<size_t>(line)]);
    }
    a.ReadInteger(r, 0, source.valid_cols, x.data());
    for (const int64_t value : x) {
      bool counted = true;
      for (int64_t k = bytes - 1; k > byte; --k)
        counted =
            counted && ((value >> (8 * k)) & 255) == wanted[static_cast<size_t>(bytes - 1 - k)];
      if (counted) ++counts[static_cast<size_t>((value >> (8 * byte)) & 255)];
    }
    d.WriteInteger(r, 0, 256, counts.data());
  }
  unit.Close(a, "source");
  unit.Close(above, "the bytes above");
}

// The numbers of the columns that compare with the row's value, and how many there are.
template <typename T>
void GatherMatches(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo counts = unit.Open(call.tile[1]);
  TileIo a = unit.Open(call.tile[2]);
  // The threshold has the source's bits, whatever its tile calls them.
  TileRef same = call.tile[3];
  same.type = call.tile[2].type;
  TileIo threshold = unit.Open(same);
  const int64_t cols = call.tile[2].valid_cols;
  const bool greater = call.option[1] != 0;
  const bool in_a_row = call.tile[3].valid_rows == 1;
  const bool counted_in_a_row = call.tile[1].valid_rows == 1;
  std::vector<T> x(static_cast<size_t>(cols));
  for (int64_t r = 0; r < call.tile[2].valid_rows; ++r) {
    ReadRow(a, r, 0, cols, x.data());
    T limit{};
    ReadRow(threshold, in_a_row ? 0 : r, in_a_row ? r : 0, 1, &limit);
    std::vector<int64_t> found;
    for (size_t c = 0; c < x.size(); ++c) {
      if (greater ? x[c] > limit : x[c] == limit) found.push_back(call.option[2] + I(c));
    }
    const auto count = static_cast<int64_t>(found.size());
    if (count > call.tile[0].cols)
      unit.complaints().Fail(FindingKind::kShape, std::to_string(count) +
                                                      " elements are found, the destination has " +
                                                      std::to_string(call.tile[0].cols));
    d.WriteInteger(r, 0, count, found.data());
    counts.WriteInteger(counted_in_a_row ? 0 : r, counted_in_a_row ? r : 0, 1, &count);
  }
  unit.Close(threshold, "the values to compare with");
  unit.Close(a, "source");
}

}  // namespace

bool ExecuteWeave(Unit& unit, const Call& call) {
  switch (call.op) {
    case Op::TTRI:
      Triangle(unit, call);
      return true;
    case Op::TPAIRREDUCESUM:
      PairSums(unit, call);
      return true;
    case Op::TINTERLEAVE:
    case Op::TDEINTERLEAVE:
      Weave(unit, call);
      return true;
    case Op::THISTOGRAM:
      Histogram(unit, call);
      return true;
    case Op::TSCATTER:
      if (call.tiles != 2) return false;
      ScatterPattern(unit, call);
      return true;
    case Op::TGATHER:
      if (call.option[0] >= 0) return false;
      IsFloat(call.tile[2].type) ? GatherMatches<float>(unit, call)
                                 : GatherMatches<int64_t>(unit, call);
      return true;
    default:
      return false;
  }
}

}  // namespace kerf::sim
