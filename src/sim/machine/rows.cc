// Instructions that reduce rows or columns, or spread a row or a column over a tile.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sim/machine/aligned.h"

namespace kerf::sim {
namespace {

enum class How { kAdd, kSub, kMul, kDiv, kMax, kMin, kExpDif, kCopy };

template <typename T>
T Apply(How how, T x, T y) {
  switch (how) {
    case How::kAdd:
      return x + y;
    case How::kSub:
      return x - y;
    case How::kMul:
      return x * y;
    case How::kDiv:
      return y == 0 && !std::is_floating_point_v<T> ? 0 : x / y;
    case How::kMax:
      return std::max(x, y);
    case How::kMin:
      return std::min(x, y);
    case How::kExpDif:
      return static_cast<T>(std::exp(static_cast<float>(x - y)));
    case How::kCopy:
      return y;
  }
  return x;
}

void CheckSameType(Unit& unit, const Call& call, int index) {
  if (call.tile[index].type == call.tile[0].type) return;
  unit.complaints().Fail(FindingKind::kUnsupported, std::string(OpName(call.op)) + " from " +
                                                        TypeName(call.tile[index].type) + " to " +
                                                        TypeName(call.tile[0].type));
}

// --- reductions ---

// Sums are taken in double and rounded once: the order in which hardware adds is not specified.
template <typename T>
T Reduce(How how, const std::vector<T>& x) {
  if (how == How::kAdd && std::is_floating_point_v<T>) {
    double sum = 0;
    for (const T value : x) sum += static_cast<double>(value);
    return static_cast<T>(sum);
  }
  T result = x.empty() ? T{} : x[0];
  for (size_t i = 1; i < x.size(); ++i) result = Apply(how, result, x[i]);
  return result;
}

template <typename T>
void RowReduce(Unit& unit, const Call& call, How how) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const int64_t rows = call.tile[1].valid_rows;
  if (call.tile[0].valid_rows < rows) {
    unit.complaints().Warn(FindingKind::kShape,
                           "the destination has fewer valid rows than the source");
  }
  std::vector<T> x(static_cast<size_t>(call.tile[1].valid_cols));
  for (int64_t r = 0; r < std::min<int64_t>(rows, call.tile[0].rows); ++r) {
    ReadRow(a, r, 0, call.tile[1].valid_cols, x.data());
    const T value = Reduce(how, x);
    WriteRow(d, r, 0, 1, &value);
  }
  unit.Close(a, "source");
}

template <typename T>
void ColReduce(Unit& unit, const Call& call, How how) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const int64_t cols = std::min(call.tile[1].valid_cols, call.tile[0].valid_cols);
  std::vector<T> x(static_cast<size_t>(cols)), sum(static_cast<size_t>(cols));
  for (int64_t r = 0; r < call.tile[1].valid_rows; ++r) {
    ReadRow(a, r, 0, cols, x.data());
    if (r == 0)
      sum = x;
    else
      for (size_t i = 0; i < x.size(); ++i) sum[i] = Apply(how, sum[i], x[i]);
  }
  if (call.tile[1].valid_rows > 0) WriteRow(d, 0, 0, cols, sum.data());
  unit.Close(a, "source");
}

// --- expansions ---

// Which source is as wide as the destination; the other one is spread.
bool FirstIsFull(const Call& call) {
  const TileRef& d = call.tile[0];
  const auto full = [&](const TileRef& t) {
    return t.valid_rows >= d.valid_rows && t.valid_cols >= d.valid_cols;
  };
  return full(call.tile[1]);
}

template <typename T>
void RowExpandOp(Unit& unit, const Call& call, How how) {
  const bool first = FirstIsFull(call);
  TileIo d = unit.Open(call.tile[0]);
  TileIo full = unit.Open(call.tile[first ? 1 : 2]);
  TileIo column = unit.Open(call.tile[first ? 2 : 1]);
  const TileRef& s = column.tile();
  const int64_t rows = call.tile[0].valid_rows;
  const int64_t cols = call.tile[0].valid_cols;
  if (s.valid_rows < rows || s.valid_cols < 1 || full.tile().valid_rows < rows ||
      full.tile().valid_cols < cols) {
    unit.complaints().Fail(FindingKind::kShape, "one value per row is needed for " +
                                                    std::to_string(rows) + " rows; the tile has " +
                                                    std::to_string(s.valid_rows) + "x" +
                                                    std::to_string(s.valid_cols) + " valid");
  }
  const auto width = static_cast<size_t>(s.valid_cols);
  std::vector<T> x(static_cast<size_t>(cols)), y(width);
  for (int64_t r = 0; r < rows; ++r) {
    ReadRow(full, r, 0, cols, x.data());
    ReadRow(column, r, 0, s.valid_cols, y.data());
    size_t j = 0;
    for (T& value : x) {
      value = first ? Apply(how, value, y[j]) : Apply(how, y[j], value);
      if (++j == width) j = 0;
    }
    WriteRow(d, r, 0, cols, x.data());
  }
  unit.Close(full, "the wide source");
  unit.Close(column, "the column");
}

template <typename T>
void ColExpandOp(Unit& unit, const Call& call, How how) {
  const bool first = FirstIsFull(call);
  TileIo d = unit.Open(call.tile[0]);
  TileIo full = unit.Open(call.tile[first ? 1 : 2]);
  TileIo row = unit.Open(call.tile[first ? 2 : 1]);
  const int64_t rows = call.tile[0].valid_rows;
  const int64_t cols = call.tile[0].valid_cols;
  if (row.tile().valid_cols < cols || row.tile().valid_rows < 1 || full.tile().valid_rows < rows ||
      full.tile().valid_cols < cols) {
    unit.complaints().Fail(FindingKind::kShape,
                           "a row of " + std::to_string(cols) + " values is needed");
  }
  std::vector<T> x(static_cast<size_t>(cols)), y(static_cast<size_t>(cols));
  ReadRow(row, 0, 0, cols, y.data());
  for (int64_t r = 0; r < rows; ++r) {
    ReadRow(full, r, 0, cols, x.data());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = first ? Apply(how, x[i], y[i]) : Apply(how, y[i], x[i]);
    WriteRow(d, r, 0, cols, x.data());
  }
  unit.Close(full, "the wide source");
  unit.Close(row, "the row");
}

// Bits are copied.
void Spread(Unit& unit, const Call& call, bool rows) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  CheckSameType(unit, call, 1);
  const size_t size = d.element_bytes();
  const int64_t cols = call.tile[0].valid_cols;
  std::vector<char> line(static_cast<size_t>(cols) * size);
  if (!rows) a.Read(0, 0, std::min<int64_t>(cols, call.tile[1].cols), line.data());
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    if (rows) {
      a.Read(r, 0, 1, line.data());
      for (size_t at = size; at < line.size(); at += size)
        std::copy_n(line.data(), size, line.data() + at);
    }
    d.Write(r, 0, cols, line.data());
  }
  unit.Close(a, "source");
}

struct Entry {
  Op op;
  How how;
};
constexpr Entry kRowReductions[] = {{Op::TROWMAX, How::kMax},
                                    {Op::TROWMIN, How::kMin},
                                    {Op::TROWSUM, How::kAdd},
                                    {Op::TROWPROD, How::kMul}};
constexpr Entry kColReductions[] = {{Op::TCOLMAX, How::kMax},
                                    {Op::TCOLMIN, How::kMin},
                                    {Op::TCOLSUM, How::kAdd},
                                    {Op::TCOLPROD, How::kMul}};
constexpr Entry kRowExpansions[] = {
    {Op::TROWEXPANDADD, How::kAdd},      {Op::TROWEXPANDSUB, How::kSub},
    {Op::TROWEXPANDMUL, How::kMul},      {Op::TROWEXPANDDIV, How::kDiv},
    {Op::TROWEXPANDMAX, How::kMax},      {Op::TROWEXPANDMIN, How::kMin},
    {Op::TROWEXPANDEXPDIF, How::kExpDif}};
constexpr Entry kColExpansions[] = {
    {Op::TCOLEXPANDADD, How::kAdd},      {Op::TCOLEXPANDSUB, How::kSub},
    {Op::TCOLEXPANDMUL, How::kMul},      {Op::TCOLEXPANDDIV, How::kDiv},
    {Op::TCOLEXPANDMAX, How::kMax},      {Op::TCOLEXPANDMIN, How::kMin},
    {Op::TCOLEXPANDEXPDIF, How::kExpDif}};

const How* Find(std::span<const Entry> entries, Op op) {
  for (const Entry& entry : entries) {
    if (entry.op == op) return &entry.how;
  }
  return nullptr;
}

}  // namespace

bool ExecuteRows(Unit& unit, const Call& call) {
  const bool real = call.tiles > 0 && IsFloat(call.tile[0].type);
  if (const How* by_row = Find(kRowReductions, call.op)) {
    CheckSameType(unit, call, 1);
    real ? RowReduce<float>(unit, call, *by_row) : RowReduce<int64_t>(unit, call, *by_row);
  } else if (const How* by_col = Find(kColReductions, call.op)) {
    CheckSameType(unit, call, 1);
    real ? ColReduce<float>(unit, call, *by_col) : ColReduce<int64_t>(unit, call, *by_col);
  } else if (const How* row_op = Find(kRowExpansions, call.op)) {
    CheckSameType(unit, call, 1);
    CheckSameType(unit, call, 2);
    real ? RowExpandOp<float>(unit, call, *row_op) : RowExpandOp<int64_t>(unit, call, *row_op);
  } else if (const How* col_op = Find(kColExpansions, call.op)) {
    CheckSameType(unit, call, 1);
    CheckSameType(unit, call, 2);
    real ? ColExpandOp<float>(unit, call, *col_op) : ColExpandOp<int64_t>(unit, call, *col_op);
  } else if (call.op == Op::TROWEXPAND || call.op == Op::TCOLEXPAND) {
    Spread(unit, call, call.op == Op::TROWEXPAND);
  } else {
    return false;
  }
  return true;
}

}  // namespace kerf::sim
