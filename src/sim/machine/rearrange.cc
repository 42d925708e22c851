// Instructions that choose or move elements within UB: gather, scatter, transpose, compare, select.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/machine/mask_pattern.h"
#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

[[noreturn]] void BadIndex(Unit& unit, int64_t index, int64_t extent) {
  unit.complaints().Fail(FindingKind::kIndex, "index " + std::to_string(index) + " of " +
                                                  std::to_string(extent) + " elements");
}

// d = a.flat[idx], over the capacity of a.
void GatherElements(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo idx = unit.Open(call.tile[2]);
  const int64_t extent = int64_t{call.tile[1].rows} * call.tile[1].cols;
  const int64_t cols = call.tile[0].valid_cols;
  std::vector<int64_t> places(static_cast<size_t>(cols));
  std::vector<char> line(static_cast<size_t>(cols) * d.element_bytes());
  if (d.element_bytes() != a.element_bytes()) {
    unit.complaints().Fail(FindingKind::kUnsupported,
                           "TGATHER between elements of different sizes");
  }
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    idx.ReadInteger(r, 0, cols, places.data());
    for (size_t c = 0; c < places.size(); ++c) {
      if (places[c] < 0 || places[c] >= extent) BadIndex(unit, places[c], extent);
      a.Read(places[c] / call.tile[1].cols, places[c] % call.tile[1].cols, 1,
             line.data() + c * d.element_bytes());
    }
    d.Write(r, 0, cols, line.data());
  }
  unit.Close(a, "source");
  unit.Close(idx, "the indices");
}

// Bits are copied: the destination may give them another type of the same size.
void GatherPattern(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const MaskPlaces pattern = PlacesOf(call.option[0]);
  const size_t size = a.element_bytes();
  if (size != d.element_bytes()) {
    unit.complaints().Fail(FindingKind::kUnsupported,
                           "TGATHER between elements of different sizes");
  }
  std::vector<char> line(static_cast<size_t>(call.tile[1].valid_cols) * size);
  std::vector<char> kept;
  for (int64_t r = 0; r < call.tile[1].valid_rows; ++r) {
    a.Read(r, 0, call.tile[1].valid_cols, line.data());
    kept.clear();
    for (int64_t c = pattern.first; c < call.tile[1].valid_cols; c += pattern.step) {
      const char* at = line.data() + static_cast<size_t>(c) * size;
      kept.insert(kept.end(), at, at + size);
    }
    const auto count = static_cast<int64_t>(kept.size() / size);
    if (r >= call.tile[0].rows || count > call.tile[0].cols) {
      unit.complaints().Fail(FindingKind::kShape, std::to_string(count) +
                                                      " columns are kept, the destination has " +
                                                      std::to_string(call.tile[0].cols));
    }
    d.Write(r, 0, count, kept.data());
  }
  unit.Close(a, "source");
}

// Blocks of 32 bytes at byte offsets from a's address.
void GatherBlocks(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo offsets = unit.Open(call.tile[2]);
  const auto per_block = static_cast<int64_t>(32 / d.element_bytes());
  const auto size = static_cast<int64_t>(a.element_bytes());
  const int64_t extent = int64_t{call.tile[1].rows} * call.tile[1].cols * size;
  std::vector<char> block(32);
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    for (int64_t c = 0; c < call.tile[0].valid_cols; c += per_block) {
      int64_t offset = 0;
      offsets.ReadInteger(r, c / per_block, 1, &offset);
      if (offset < 0 || offset + 32 > extent || offset % 32 != 0) BadIndex(unit, offset, extent);
      const int64_t element = offset / size;
      a.Read(element / call.tile[1].cols, element % call.tile[1].cols, 32 / size, block.data());
      d.Write(r, c, std::min<int64_t>(per_block, call.tile[0].valid_cols - c), block.data());
    }
  }
  unit.Close(a, "source");
  unit.Close(offsets, "the offsets");
}

void ScatterElements(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo idx = unit.Open(call.tile[2]);
  const int64_t extent = int64_t{call.tile[0].rows} * call.tile[0].cols;
  for (int64_t r = 0; r < call.tile[1].valid_rows; ++r) {
    for (int64_t c = 0; c < call.tile[1].valid_cols; ++c) {
      int64_t place = 0;
      uint64_t value = 0;
      idx.ReadInteger(r, c, 1, &place);
      a.Read(r, c, 1, &value);
      if (place < 0 || place >= extent) BadIndex(unit, place, extent);
      d.Write(place / call.tile[0].cols, place % call.tile[0].cols, 1, &value);
    }
  }
  unit.Close(a, "source");
  unit.Close(idx, "the indices");
}

void Count(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  std::vector<int64_t> line(static_cast<size_t>(call.tile[0].valid_cols));
  for (size_t i = 0; i < line.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    line[i] = call.number.integer + (call.option[0] != 0 ? -k : k);
  }
  d.WriteInteger(0, 0, call.tile[0].valid_cols, line.data());
}

void Concat(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo b = unit.Open(call.tile[2]);
  const int64_t left = call.tile[1].valid_cols;
  const int64_t right = call.tile[2].valid_cols;
  if (left + right > call.tile[0].cols) {
    unit.complaints().Fail(FindingKind::kShape,
                           std::to_string(left) + " and " + std::to_string(right) +
                               " columns do not fit into " + std::to_string(call.tile[0].cols));
  }
  std::vector<char> line(static_cast<size_t>(left + right) * d.element_bytes());
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    a.Read(r, 0, left, line.data());
    b.Read(r, 0, right, line.data() + static_cast<size_t>(left) * d.element_bytes());
    d.Write(r, 0, left + right, line.data());
  }
  unit.Close(a, "source 1");
  unit.Close(b, "source 2");
}

void Transpose(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const int64_t rows = call.tile[1].valid_rows;
  const int64_t cols = call.tile[1].valid_cols;
  if (call.tile[0].rows < cols || call.tile[0].cols < rows ||
      d.element_bytes() != a.element_bytes()) {
    unit.complaints().Fail(FindingKind::kShape, "the transpose of " + std::to_string(rows) + "x" +
                                                    std::to_string(cols) + " does not fit into " +
                                                    std::to_string(call.tile[0].rows) + "x" +
                                                    std::to_string(call.tile[0].cols));
  }
  const size_t size = a.element_bytes();
  std::vector<char> all(static_cast<size_t>(rows * cols) * size);
  for (int64_t r = 0; r < rows; ++r)
    a.Read(r, 0, cols, all.data() + static_cast<size_t>(r * cols) * size);
  std::vector<char> line(static_cast<size_t>(rows) * size);
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(line.data() + static_cast<size_t>(r) * size,
                  all.data() + static_cast<size_t>(r * cols + c) * size, size);
    }
    d.Write(c, 0, rows, line.data());
  }
  unit.Close(a, "source");
}

template <typename T>
bool Holds(int64_t mode, T x, T y) {
  switch (mode) {  // CmpMode
    case 0:
      return x == y;
    case 1:
      return x != y;
    case 2:
      return x < y;
    case 3:
      return x > y;
    case 4:
      return x >= y;
    default:
      return x <= y;
  }
}

// One bit per element, the first in the lowest.
void Compare(Unit& unit, const Call& call) {
  const bool scalar = call.op == Op::TCMPS;
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo b = scalar ? a : unit.Open(call.tile[2]);
  const int64_t cols = call.tile[1].valid_cols;
  const bool real = IsFloat(call.tile[1].type);
  const auto n = static_cast<size_t>(cols);
  std::vector<float> x(n), y(n, static_cast<float>(call.number.real));
  std::vector<int64_t> p(n), q(n, call.number.integer);
  const size_t size = d.element_bytes();
  std::vector<uint8_t> bits((n / 8 + size) / size * size + size);
  for (int64_t r = 0; r < call.tile[1].valid_rows; ++r) {
    if (real)
      a.ReadReal(r, 0, cols, x.data());
    else
      a.ReadInteger(r, 0, cols, p.data());
    if (!scalar && real) b.ReadReal(r, 0, cols, y.data());
    if (!scalar && !real) b.ReadInteger(r, 0, cols, q.data());
    std::fill(bits.begin(), bits.end(), 0);
    for (size_t i = 0; i < n; ++i) {
      const bool on = real ? Holds(call.option[0], x[i], y[i]) : Holds(call.option[0], p[i], q[i]);
      if (on) bits[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
    }
    d.Write(r, 0, static_cast<int64_t>(((n + 7) / 8 + size - 1) / size), bits.data());
  }
  unit.Close(a, "source 1");
  if (!scalar) unit.Close(b, "source 2");
}

// The scalar of a call as the bytes of `count` elements.
std::vector<char> Filled(const Call& call, Type type, int64_t count) {
  std::vector<char> line(static_cast<size_t>(count) * TypeBytes(type));
  const std::vector<float> reals(static_cast<size_t>(count), static_cast<float>(call.number.real));
  const std::vector<int64_t> integers(reals.size(), call.number.integer);
  if (IsFloat(type))
    EncodeReals(type, reals.data(), count, line.data());
  else
    EncodeIntegers(type, integers.data(), count, line.data());
  return line;
}

void Select(Unit& unit, const Call& call) {
  const bool scalar = call.op == Op::TSELS;
  TileIo d = unit.Open(call.tile[0]);
  TileIo mask = unit.Open(call.tile[1]);
  TileIo a = unit.Open(call.tile[2]);
  TileIo b = scalar ? a : unit.Open(call.tile[3]);
  if (call.tile[2].type != call.tile[0].type ||
      (!scalar && call.tile[3].type != call.tile[0].type)) {
    unit.complaints().Fail(FindingKind::kUnsupported,
                           std::string(OpName(call.op)) + " between different types");
  }
  const int64_t cols = call.tile[0].valid_cols;
  const size_t size = d.element_bytes();
  std::vector<char> x(static_cast<size_t>(cols) * size);
  std::vector<char> y = Filled(call, call.tile[0].type, cols);
  const auto words = static_cast<int64_t>(
      (static_cast<size_t>(cols + 7) / 8 + mask.element_bytes() - 1) / mask.element_bytes());
  std::vector<uint8_t> bits(static_cast<size_t>(words) * mask.element_bytes());
  for (int64_t r = 0; r < call.tile[0].valid_rows; ++r) {
    a.Read(r, 0, cols, x.data());
    if (!scalar) b.Read(r, 0, cols, y.data());
    mask.Read(r, 0, words, bits.data());
    for (size_t i = 0; i < static_cast<size_t>(cols); ++i) {
      if ((bits[i / 8] >> (i % 8) & 1) == 0)
        std::memcpy(x.data() + i * size, y.data() + i * size, size);
    }
    d.Write(r, 0, cols, x.data());
  }
  unit.Close(mask, "the mask");
  unit.Close(a, "source 1");
  if (!scalar) unit.Close(b, "source 2");
}

}  // namespace

bool ExecuteRearrange(Unit& unit, const Call& call) {
  switch (call.op) {
    case Op::TGATHER:
      call.option[0] != 0 ? GatherPattern(unit, call) : GatherElements(unit, call);
      return true;
    case Op::TGATHERB:
      GatherBlocks(unit, call);
      return true;
    case Op::TSCATTER:
      ScatterElements(unit, call);
      return true;
    case Op::TCI:
      Count(unit, call);
      return true;
    case Op::TCONCAT:
      Concat(unit, call);
      return true;
    case Op::TTRANS:
      Transpose(unit, call);
      return true;
    case Op::TCMP:
    case Op::TCMPS:
      Compare(unit, call);
      return true;
    case Op::TSEL:
    case Op::TSELS:
      Select(unit, call);
      return true;
    default:
      return false;
  }
}

}  // namespace kerf::sim
