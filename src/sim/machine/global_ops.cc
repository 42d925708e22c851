// Transfers between tiles and global memory.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/machine/fixpipe.h"

namespace kerf::sim {
namespace {

// A five-dimensional view as rows and columns: which dimensions make up a row's number, which a
// column's, slowest first.
struct Plane {
  int row_dims[4];
  int row_count;
  int col_dims[4];
  int col_count;
};
Plane PlaneOf(Form form) {
  switch (form) {
    case Form::kDn:
      return {{3}, 1, {0, 1, 2, 4}, 4};
    case Form::kNz:
      return {{2, 3}, 2, {0, 1, 4}, 3};
    case Form::kMxAZz:
      return {{0, 1, 3}, 3, {2, 4}, 2};
    case Form::kMxANd:
      return {{0, 1, 2}, 3, {3, 4}, 2};
    case Form::kMxADn:
      return {{3}, 1, {0, 1, 2, 4}, 4};
    case Form::kMxBNn:
      return {{2, 4}, 2, {0, 1, 3}, 3};
    case Form::kMxBNd:
      return {{0, 1, 2, 4}, 4, {3}, 1};
    case Form::kMxBDn:
      return {{3, 4}, 2, {0, 1, 2}, 3};
    default:
      return {{0, 1, 2, 3}, 4, {4}, 1};
  }
}

class GlobalView {
 public:
  explicit GlobalView(const GlobalRef& ref)
      : ref_(ref),
        plane_(PlaneOf(ref.form)),
        size_(TypeBytes(ref.type)),
        packed_(kerf_pto::PerByte(ref.type) != 1) {}

  [[nodiscard]] int64_t rows() const { return Extent(plane_.row_dims, plane_.row_count); }
  [[nodiscard]] int64_t cols() const { return Extent(plane_.col_dims, plane_.col_count); }
  // In elements from the start.
  [[nodiscard]] int64_t RowOffset(int64_t row) const {
    return Offset(row, plane_.row_dims, plane_.row_count);
  }
  [[nodiscard]] int64_t ColOffset(int64_t col) const {
    return Offset(col, plane_.col_dims, plane_.col_count);
  }
  // The byte an element begins in.
  [[nodiscard]] char* at(int64_t element) const {
    return static_cast<char*>(ref_.data) +
           (packed_ ? element >> 1 : element * static_cast<int64_t>(size_));
  }
  [[nodiscard]] bool packed() const { return packed_; }
  void Get(int64_t element, char* out) const {
    if (packed_)
      *out = static_cast<char>(PackedAt(at(element), element & 1));
    else
      std::memcpy(out, at(element), size_);
  }
  void Put(int64_t element, const char* from) const {
    if (packed_)
      SetPackedAt(at(element), element & 1, static_cast<uint8_t>(*from));
    else
      std::memcpy(at(element), from, size_);
  }

 private:
  [[nodiscard]] int64_t Extent(const int* dims, int count) const {
    int64_t product = 1;
    for (int i = 0; i < count; ++i) product *= ref_.shape[dims[i]];
    return product;
  }
  [[nodiscard]] int64_t Offset(int64_t index, const int* dims, int count) const {
    int64_t offset = 0;
    for (int i = count - 1; i > 0; --i) {
      const int64_t extent = std::max<int64_t>(ref_.shape[dims[i]], 1);
      offset += index % extent * ref_.stride[dims[i]];
      index /= extent;
    }
    return offset + index * ref_.stride[dims[0]];
  }

  const GlobalRef& ref_;
  const Plane plane_;
  const size_t size_;
  const bool packed_;
};

// The offsets of a row's elements, and whether they lie side by side.
struct Columns {
  std::vector<int64_t> offset;
  bool dense = true;
  int64_t low = 0, high = 0;
};
Columns ColumnsOf(const GlobalView& view, int64_t count) {
  Columns columns;
  columns.offset.resize(static_cast<size_t>(count));
  for (int64_t c = 0; c < count; ++c) {
    const int64_t offset = view.ColOffset(c);
    columns.offset[static_cast<size_t>(c)] = offset;
    columns.dense = columns.dense && offset == c;
    columns.low = std::min(columns.low, offset);
    columns.high = std::max(columns.high, offset);
  }
  return columns;
}

struct Extent {
  int64_t rows, cols;
};
// The tile's valid region, as far as the view reaches.
Extent Common(Unit& unit, const TileRef& tile, const GlobalView& view) {
  const Extent extent{std::min<int64_t>(tile.valid_rows, view.rows()),
                      std::min<int64_t>(tile.valid_cols, view.cols())};
  if (extent.rows < tile.valid_rows || extent.cols < tile.valid_cols) {
    unit.complaints().Warn(FindingKind::kShape,
                           "the tile is valid for " + std::to_string(tile.valid_rows) + "x" +
                               std::to_string(tile.valid_cols) + ", the view has " +
                               std::to_string(view.rows()) + "x" + std::to_string(view.cols()));
  }
  return extent;
}

// Fails when a byte of the transfer belongs to no tensor. One look when it is all in one tensor.
void CheckRange(Unit& unit, const GlobalView& view, const Extent& extent, const Columns& columns,
                size_t size, const char* verb) {
  if (extent.rows == 0 || extent.cols == 0) return;
  int64_t low = 0;
  int64_t high = 0;
  for (int64_t r = 0; r < extent.rows; ++r) {
    low = std::min(low, view.RowOffset(r));
    high = std::max(high, view.RowOffset(r));
  }
  const int64_t first = low + columns.low;
  const int64_t last = high + columns.high;
  const char* from = view.at(first);
  unit.CheckGlobal(from, static_cast<uint64_t>(view.at(last) - from) + size, verb);
}

void Load(Unit& unit, const Call& call) {
  const TileRef& tile = call.tile[0];
  const GlobalView view(call.global[0]);
  TileIo io = unit.Open(tile);
  const size_t size = io.element_bytes();
  if (TypeBytes(call.global[0].type) != size ||
      kerf_pto::PerByte(call.global[0].type) != kerf_pto::PerByte(tile.type)) {
    unit.complaints().Fail(
        FindingKind::kUnsupported,
        std::string("TLOAD of ") + TypeName(call.global[0].type) + " into " + TypeName(tile.type));
  }
  const Extent extent = Common(unit, tile, view);
  const Columns columns = ColumnsOf(view, extent.cols);
  CheckRange(unit, view, extent, columns, size, "reads");
  std::vector<char> line(static_cast<size_t>(extent.cols) * size);
  for (int64_t r = 0; r < extent.rows; ++r) {
    const int64_t row = view.RowOffset(r);
    if (columns.dense && !view.packed()) {
      io.Write(r, 0, extent.cols, view.at(row));
      continue;
    }
    for (size_t c = 0; c < columns.offset.size(); ++c)
      view.Get(row + columns.offset[c], line.data() + c * size);
    io.Write(r, 0, extent.cols, line.data());
  }
}

void Combine(char* at, const char* from, Type type, int64_t atomic) {
  if (atomic == 0) {
    std::memcpy(at, from, TypeBytes(type));
  } else if (IsFloat(type)) {
    float old = 0, value = 0;
    DecodeReals(type, at, 1, &old);
    DecodeReals(type, from, 1, &value);
    const float result = atomic == 1   ? old + value
                         : atomic == 2 ? std::max(old, value)
                                       : std::min(old, value);
    EncodeReals(type, &result, 1, at);
  } else {
    int64_t old = 0, value = 0;
    DecodeIntegers(type, at, 1, &old);
    DecodeIntegers(type, from, 1, &value);
    const int64_t result =
        atomic == 1
            ? static_cast<int64_t>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value))
        : atomic == 2 ? std::max(old, value)
                      : std::min(old, value);
    EncodeIntegers(type, &result, 1, at);
  }
}

void Store(Unit& unit, const Call& call) {
  const TileRef& tile = call.tile[0];
  const GlobalView view(call.global[0]);
  TileIo io = unit.Open(tile);
  const Type to = call.global[0].type;
  const size_t size = TypeBytes(to);
  const Extent extent = Common(unit, tile, view);
  Finish finish{tile.type, to, call.option[1] != 0, {}};
  if (call.op == Op::TSTORE_FP)
    finish.scales = ScalesOf(unit, call.tile[1], extent.cols);
  else if (call.option[2] != 0)
    finish.scales = {ScaleOf(static_cast<uint64_t>(call.option[3]))};
  const int64_t atomic = call.op == Op::TPUSH ? 0 : call.option[0];
  const bool packed = view.packed() || kerf_pto::PerByte(tile.type) != 1;
  const bool cast = tile.type != to && (packed || TypeBytes(tile.type) != size);
  if (packed && atomic != 0)
    unit.complaints().Fail(FindingKind::kUnsupported,
                           std::string("an atomic TSTORE of ") + TypeName(to));
  if (cast && (packed || tile.mem != Mem::kL0c)) {
    unit.complaints().Fail(FindingKind::kUnsupported,
                           std::string("TSTORE of ") + TypeName(tile.type) + " as " + TypeName(to) +
                               " from " + MemName(tile.mem));
  }
  const bool as_is = tile.mem != Mem::kL0c;
  const Columns columns = ColumnsOf(view, extent.cols);
  CheckRange(unit, view, extent, columns, size, "writes");
  std::vector<char> line(static_cast<size_t>(extent.cols) * std::max(size, io.element_bytes()));
  for (int64_t r = 0; r < extent.rows; ++r) {
    if (as_is)
      io.Read(r, 0, extent.cols, line.data());
    else
      FinishRow(unit, call, io, r, 0, extent.cols, finish, line.data());
    const int64_t row = view.RowOffset(r);
    if (columns.dense && atomic == 0 && !packed) {
      std::memcpy(view.at(row), line.data(), static_cast<size_t>(extent.cols) * size);
      continue;
    }
    for (size_t c = 0; c < columns.offset.size(); ++c) {
      if (atomic == 0) {
        view.Put(row + columns.offset[c], line.data() + c * size);
        continue;
      }
      Combine(view.at(row + columns.offset[c]), line.data() + c * size, to, atomic);
    }
  }
  unit.Close(io, "the tile");
}

// --- single elements and rows by index ---

// Where an index leads; false: nowhere.
bool Place(int64_t& index, int64_t extent, int64_t outside) {
  if (index >= 0 && index < extent) return true;
  if (outside == 2)
    index = std::clamp<int64_t>(index, 0, extent - 1);  // kClamp
  else if (outside == 3)
    index = (index % extent + extent) % extent;  // kWrap
  else
    return false;
  return true;
}

void Scatter(Unit& unit, const Call& call) {
  TileIo source = unit.Open(call.tile[0]);
  TileIo index = unit.Open(call.tile[1]);
  const GlobalView view(call.global[0]);
  const Type type = call.global[0].type;
  const size_t size = TypeBytes(type);
  const bool rows = call.option[0] == 0;
  const int64_t extent = rows ? view.rows() : view.rows() * view.cols();
  std::vector<char> line(static_cast<size_t>(call.tile[0].valid_cols) * size);
  std::vector<int64_t> places(static_cast<size_t>(std::max(call.tile[1].valid_cols, 1)));
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    source.Read(r, 0, call.tile[0].valid_cols, line.data());
    const bool line_of_rows = rows && call.tile[1].valid_rows == 1;
    if (line_of_rows)
      index.ReadInteger(0, r, 1, places.data());
    else
      index.ReadInteger(r, 0, rows ? 1 : call.tile[0].valid_cols, places.data());
    for (int64_t c = 0; c < call.tile[0].valid_cols; ++c) {
      int64_t at = places[rows ? 0 : static_cast<size_t>(c)];
      if (!Place(at, extent, call.option[2])) {
        if (call.option[2] == 0)
          unit.complaints().Warn(FindingKind::kIndex,
                                 "index " + std::to_string(at) + " of " + std::to_string(extent));
        continue;
      }
      const int64_t row = rows ? at : at / view.cols();
      const int64_t col = rows ? c : at % view.cols();
      char* to = view.at(view.RowOffset(row) + view.ColOffset(col));
      unit.CheckGlobal(to, size, "writes");
      Combine(to, line.data() + static_cast<size_t>(c) * size, type, call.option[1]);
    }
  }
  unit.Close(source, "source");
  unit.Close(index, "the indices");
}

void Gather(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo index = unit.Open(call.tile[1]);
  const GlobalView view(call.global[0]);
  const size_t size = TypeBytes(call.global[0].type);
  const bool rows = call.option[0] == 0;
  const int64_t extent = rows ? view.rows() : view.rows() * view.cols();
  constexpr int64_t kOutside[] = {0, 2, 3, 1};  // GatherOOB to ScatterOOB: zero is skip
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    for (int64_t c = 0; c < call.tile[0].valid_cols; ++c) {
      int64_t at = 0;
      if (rows)
        call.tile[1].valid_rows == 1 ? index.ReadInteger(0, r, 1, &at)
                                     : index.ReadInteger(r, 0, 1, &at);
      else
        index.ReadInteger(r, c, 1, &at);
      uint64_t value = 0;
      if (Place(at, extent, kOutside[call.option[2] & 3])) {
        const int64_t row = rows ? at : at / view.cols();
        const int64_t col = rows ? c : at % view.cols();
        const char* from = view.at(view.RowOffset(row) + view.ColOffset(col));
        unit.CheckGlobal(from, size, "reads");
        std::memcpy(&value, from, size);
      } else if (call.option[2] == 0) {
        unit.complaints().Warn(FindingKind::kIndex,
                               "index " + std::to_string(at) + " of " + std::to_string(extent));
      }
      d.Write(r, c, 1, &value);
    }
  }
  unit.Close(index, "the indices");
}

// --- without tiles ---

void Notify(Unit& unit, const Call& call) {
  auto* at = static_cast<int32_t*>(call.global[0].data);
  unit.CheckGlobal(at, sizeof *at, "signals");
  const auto value = static_cast<int32_t>(call.number.integer);
  *at = call.option[0] != 0
            ? value
            : static_cast<int32_t>(static_cast<uint32_t>(*at) + static_cast<uint32_t>(value));
}

void CopyGlobal(Unit& unit, const Call& call) {
  const GlobalView to(call.global[0]);
  const GlobalView from(call.global[1]);
  const size_t size = TypeBytes(call.global[0].type);
  char element[8];
  for (int64_t r = 0; r < from.rows(); ++r) {
    for (int64_t c = 0; c < from.cols(); ++c) {
      const int64_t d = to.RowOffset(r) + to.ColOffset(c);
      const int64_t s = from.RowOffset(r) + from.ColOffset(c);
      unit.CheckGlobal(to.at(d), size, "writes");
      unit.CheckGlobal(from.at(s), size, "reads");
      from.Get(s, element);
      to.Put(d, element);
    }
  }
}

}  // namespace

bool ExecuteGlobal(Unit& unit, const Call& call) {
  switch (call.op) {
    case Op::TLOAD:
    case Op::TPOP:
      Load(unit, call);
      return true;
    case Op::TSTORE:
    case Op::TSTORE_FP:
    case Op::TPUSH:
      Store(unit, call);
      return true;
    case Op::MSCATTER:
      Scatter(unit, call);
      return true;
    case Op::MGATHER:
      Gather(unit, call);
      return true;
    case Op::TPREFETCH:
      unit.CheckGlobal(call.global[0].data, TypeBytes(call.global[0].type), "prefetches");
      return true;
    case Op::TNOTIFY:
      Notify(unit, call);
      return true;
    case Op::TWAIT:
      unit.CheckGlobal(call.global[0].data, 4, "waits for");
      return true;
    case Op::TPUT_ASYNC:
    case Op::TGET_ASYNC:
      CopyGlobal(unit, call);
      return true;
    default:
      return false;
  }
}

}  // namespace kerf::sim
