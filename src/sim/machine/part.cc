// Instructions on sources that cover only a part of the destination, and the places of largest and
// smallest elements.
#include <algorithm>
#include <vector>

#include "sim/machine/aligned.h"

namespace kerf::sim {
namespace {

float Combine(Op op, float x, float y) {
  if (op == Op::TPARTADD) return x + y;
  if (op == Op::TPARTMUL) return x * y;
  return op == Op::TPARTMAX ? std::max(x, y) : std::min(x, y);
}
int64_t Combine(Op op, int64_t x, int64_t y) {
  if (op == Op::TPARTADD) return I(U(x) + U(y));
  if (op == Op::TPARTMUL) return I(U(x) * U(y));
  return op == Op::TPARTMAX ? std::max(x, y) : std::min(x, y);
}

// How many columns of a row of the destination a source covers.
int64_t Covered(const TileRef& source, const TileRef& destination, int64_t row) {
  return row < source.valid_rows ? std::min(destination.valid_cols, source.valid_cols) : 0;
}

// Where neither source is valid the destination would keep what it held: no documented case.
void CheckCover(Unit& unit, const TileRef& d, const TileRef& a, const TileRef& b) {
  const auto same = [&](const TileRef& t) {
    return t.valid_rows == d.valid_rows && t.valid_cols == d.valid_cols;
  };
  const auto within = [&](const TileRef& t) {
    return t.valid_rows <= d.valid_rows && t.valid_cols <= d.valid_cols;
  };
  if ((same(a) && within(b)) || (same(b) && within(a))) return;
  unit.complaints().Warn(FindingKind::kShape,
                         "one source must be valid as the destination is, the other within it");
}

// Where only one source is valid its element is taken as it is.
template <typename T>
void Partial(Unit& unit, const Call& call) {
  CheckCover(unit, call.tile[0], call.tile[1], call.tile[2]);
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo b = unit.Open(call.tile[2]);
  const auto cols = static_cast<size_t>(call.tile[0].valid_cols);
  std::vector<T> x(cols), y(cols);
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    const int64_t na = Covered(call.tile[1], call.tile[0], r);
    const int64_t nb = Covered(call.tile[2], call.tile[0], r);
    if (na > 0) ReadRow(a, r, 0, na, x.data());
    if (nb > 0) ReadRow(b, r, 0, nb, y.data());
    for (size_t i = 0; i < static_cast<size_t>(nb); ++i)
      x[i] = i < static_cast<size_t>(na) ? Combine(call.op, x[i], y[i]) : y[i];
    WriteRow(d, r, 0, std::max(na, nb), x.data());
  }
  unit.Close(a, "source 1");
  unit.Close(b, "source 2");
}

// Of equals the second source's.
template <typename T>
void PartialArg(Unit& unit, const Call& call) {
  CheckCover(unit, call.tile[0], call.tile[2], call.tile[3]);
  std::vector<TileIo> io;
  for (int i = 0; i < call.tiles; ++i) io.push_back(unit.Open(call.tile[i]));
  const auto cols = static_cast<size_t>(call.tile[0].valid_cols);
  std::vector<T> x(cols), y(cols);
  std::vector<int64_t> p(cols), q(cols);
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    const int64_t na = Covered(call.tile[2], call.tile[0], r);
    const int64_t nb = Covered(call.tile[3], call.tile[0], r);
    ReadRow(io[2], r, 0, na, x.data());
    ReadRow(io[3], r, 0, nb, y.data());
    io[4].ReadInteger(r, 0, na, p.data());
    io[5].ReadInteger(r, 0, nb, q.data());
    for (size_t i = 0; i < static_cast<size_t>(nb); ++i) {
      const bool both = i < static_cast<size_t>(na);
      const bool first = both && (call.op == Op::TPARTARGMAX ? x[i] > y[i] : x[i] < y[i]);
      if (first) continue;
      x[i] = y[i];
      p[i] = q[i];
    }
    WriteRow(io[0], r, 0, std::max(na, nb), x.data());
    io[1].WriteInteger(r, 0, std::max(na, nb), p.data());
  }
  for (size_t i = 2; i < io.size(); ++i) unit.Close(io[i], "source");
}

// The first of equals; by rows, or by columns. With values when there are two destinations.
template <typename T>
void Arg(Unit& unit, const Call& call, bool by_row, bool largest) {
  const bool with_values = call.tiles == 4;
  const TileRef& source = call.tile[with_values ? 2 : 1];
  TileIo a = unit.Open(source);
  TileIo indices = unit.Open(call.tile[with_values ? 1 : 0]);
  TileIo values = unit.Open(call.tile[0]);
  const int64_t lines = by_row ? source.valid_rows : source.valid_cols;
  const int64_t depth = by_row ? source.valid_cols : source.valid_rows;
  const TileRef& to = indices.tile();
  if ((by_row ? to.valid_rows : to.valid_cols) < lines)
    unit.complaints().Fail(FindingKind::kShape, "the destination has no place for " +
                                                    std::to_string(lines) + " indices");
  std::vector<T> x(static_cast<size_t>(depth));
  for (int64_t k = 0; depth > 0 && k < lines; ++k) {
    for (int64_t i = 0; i < depth; ++i) ReadRow(a, by_row ? k : i, by_row ? i : k, 1, x.data() + i);
    const auto at =
        largest ? std::max_element(x.begin(), x.end()) : std::min_element(x.begin(), x.end());
    const int64_t index = at - x.begin();
    indices.WriteInteger(by_row ? k : 0, by_row ? 0 : k, 1, &index);
    if (with_values) WriteRow(values, by_row ? k : 0, by_row ? 0 : k, 1, &*at);
  }
  unit.Close(a, "source");
}

}  // namespace

bool ExecutePart(Unit& unit, const Call& call) {
  const bool by_row = call.op == Op::TROWARGMAX || call.op == Op::TROWARGMIN;
  const bool by_col = call.op == Op::TCOLARGMAX || call.op == Op::TCOLARGMIN;
  const bool largest = call.op == Op::TROWARGMAX || call.op == Op::TCOLARGMAX;
  if (by_row || by_col) {
    const Type type = call.tile[call.tiles == 4 ? 2 : 1].type;
    if (call.tiles == 4 && call.tile[0].type != type) CheckTypes(unit, call, 3);
    IsFloat(type) ? Arg<float>(unit, call, by_row, largest)
                  : Arg<int64_t>(unit, call, by_row, largest);
  } else if (call.op >= Op::TPARTADD && call.op <= Op::TPARTMUL) {
    CheckTypes(unit, call, 3);
    IsFloat(call.tile[0].type) ? Partial<float>(unit, call) : Partial<int64_t>(unit, call);
  } else if (call.op == Op::TPARTARGMAX || call.op == Op::TPARTARGMIN) {
    const Type type = call.tile[0].type;
    if (call.tile[2].type != type || call.tile[3].type != type) Unsupported(unit, call);
    IsFloat(type) ? PartialArg<float>(unit, call) : PartialArg<int64_t>(unit, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace kerf::sim
