#include "sim/machine/tile_io.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <kerf_pto/numbers.h>

namespace kerf::sim {
namespace {

struct TypeRow {
  const char* name;
  bool real;
};
constexpr TypeRow kTypes[kerf_pto::kTypeCount] = {
    {"float32", true},  {"float16", true},    {"int32", false},     {"int16", false},
    {"int8", false},    {"uint8", false},     {"bfloat16", true},   {"int64", false},
    {"uint64", false},  {"uint16", false},    {"uint32", false},    {"bool", false},
    {"fp8_e4m3", true}, {"fp8_e8m0", true},   {"fp4_e2m1x2", true}, {"float64", true},
    {"fp8_e5m2", true}, {"fp4_e1m2x2", true}, {"hif8", false},      {"int4x2", false}};

constexpr const char* kMemNames[kerf_pto::kMemCount] = {
    "GM",      "UB",     "L1", "L0A", "L0B", "L0C", "the bias table", "the fixpipe buffer",
    "scale A", "scale B"};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool ColumnsRun(Form form) { return form == Form::kNd || form == Form::kNz || form == Form::kZz; }

// float16 is decoded by table: 64 Ki entries, made when first used.
const std::vector<float>& HalfTable() {
  static const std::vector<float> table = [] {
    std::vector<float> values(65536);
    for (uint32_t i = 0; i < values.size(); ++i)
      values[i] = kerf_pto::HalfValue(static_cast<uint16_t>(i));
    return values;
  }();
  return table;
}

template <typename T>
void Widen(const void* bytes, int64_t count, int64_t* out) {
  const char* at = static_cast<const char*>(bytes);
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, at + i * sizeof(T), sizeof(T));
    out[i] = static_cast<int64_t>(value);  // NOLINT: int8 is a number here
  }
}

template <typename T>
void Narrow(const int64_t* values, int64_t count, void* out) {
  char* at = static_cast<char*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(at + i * sizeof(T), &value, sizeof(T));
  }
}

template <typename T, typename F>
void DecodeEach(const void* bytes, int64_t count, float* out, F&& decode) {
  const char* at = static_cast<const char*>(bytes);
  for (int64_t i = 0; i < count; ++i) {
    T bits;
    std::memcpy(&bits, at + i * sizeof(T), sizeof(T));
    out[i] = decode(bits);
  }
}

template <typename T, typename F>
void EncodeEach(const float* values, int64_t count, void* out, F&& encode) {
  char* at = static_cast<char*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const T bits = static_cast<T>(encode(values[i]));
    std::memcpy(at + i * sizeof(T), &bits, sizeof(T));
  }
}

}  // namespace

const char* MemName(Mem mem) { return kMemNames[static_cast<size_t>(mem)]; }
const char* TypeName(Type type) { return kTypes[static_cast<size_t>(type)].name; }
bool IsFloat(Type type) { return kTypes[static_cast<size_t>(type)].real; }

int64_t ElementOffset(const TileRef& tile, int64_t row, int64_t col) {
  if (tile.form == Form::kNd) return row * tile.cols + col;
  if (tile.form == Form::kDn) return col * tile.rows + row;
  const int64_t br = tile.box_rows;
  const int64_t bc = tile.box_cols;
  const int64_t box_row = row / br;
  const int64_t box_col = col / bc;
  const int64_t i = row % br;
  const int64_t j = col % bc;
  const int64_t down = CeilDiv(tile.rows, br);
  const int64_t across = CeilDiv(tile.cols, bc);
  const bool outer_rows = tile.form == Form::kZn || tile.form == Form::kZz;
  const int64_t box = outer_rows ? across * box_row + box_col : down * box_col + box_row;
  const bool inner_rows = tile.form == Form::kNz || tile.form == Form::kZz;
  return box * br * bc + (inner_rows ? i * bc + j : j * br + i);
}

uint64_t CapacityBytes(const TileRef& tile) {
  const int64_t rows = CeilDiv(tile.rows, tile.box_rows) * tile.box_rows;
  const int64_t cols = CeilDiv(tile.cols, tile.box_cols) * tile.box_cols;
  return StoredBytes(tile.type, static_cast<uint64_t>(rows * cols));
}

uint64_t TouchedBytes(const TileRef& tile) {
  if (tile.valid_rows <= 0 || tile.valid_cols <= 0) return 0;
  if (tile.form == Form::kNd || tile.form == Form::kDn) {
    const int64_t last = ElementOffset(tile, tile.valid_rows - 1, tile.valid_cols - 1);
    return StoredBytes(tile.type, static_cast<uint64_t>(last) + 1);
  }
  // The last box that is touched, whole.
  const int64_t box_rows = tile.box_rows;
  const int64_t box_cols = tile.box_cols;
  const int64_t last_row = (tile.valid_rows - 1) / box_rows * box_rows;
  const int64_t last_col = (tile.valid_cols - 1) / box_cols * box_cols;
  const int64_t behind = ElementOffset(tile, last_row, last_col) + box_rows * box_cols;
  return StoredBytes(tile.type, static_cast<uint64_t>(behind));
}

TileIo::TileIo(const TileRef& tile, CoreMemory& memory)
    : tile_(tile),
      memory_(memory),
      size_(TypeBytes(tile.type)),
      packed_(kerf_pto::PerByte(tile.type) != 1) {}

// Calls run(elements from the tile's address, elements, index of the first) for pieces that lie
// side by side.
template <typename F>
void TileIo::ForRuns(int64_t row, int64_t col, int64_t count, F&& run) const {
  if (tile_.form == Form::kNd) {
    run(static_cast<uint64_t>(row * tile_.cols + col), count, int64_t{0});
    return;
  }
  const int64_t step = ColumnsRun(tile_.form) ? tile_.box_cols : 1;
  for (int64_t done = 0; done < count;) {
    const int64_t at = col + done;
    const int64_t piece = std::min(count - done, step - at % step);
    run(static_cast<uint64_t>(ElementOffset(tile_, row, at)), piece, done);
    done += piece;
  }
}

[[gnu::always_inline]] inline void TileIo::NoteUnwritten(uint64_t offset, size_t bytes) {
  const size_t hole = memory_.FirstUnwritten(offset, bytes);
  if (hole >= bytes || read_unwritten_) return;
  read_unwritten_ = true;
  unwritten_at_ = offset + hole;
}

void TileIo::ReadPacked(uint64_t first, int64_t count, uint8_t* out) {
  const uint64_t offset = tile_.addr + first / 2;
  const auto n = static_cast<uint64_t>(count);
  NoteUnwritten(offset, (first % 2 + n + 1) / 2);
  for (uint64_t i = 0; i < n; ++i) out[i] = PackedAt(memory_.at(offset), first % 2 + i);
}

void TileIo::WritePacked(uint64_t first, int64_t count, const uint8_t* from) {
  const uint64_t offset = tile_.addr + first / 2;
  const auto n = static_cast<uint64_t>(count);
  memory_.MarkWritten(offset, (first % 2 + n + 1) / 2);
  for (uint64_t i = 0; i < n; ++i) SetPackedAt(memory_.at(offset), first % 2 + i, from[i]);
}

void TileIo::Read(int64_t row, int64_t col, int64_t count, void* out) {
  ForRuns(row, col, count, [&](uint64_t from, int64_t piece, int64_t first) {
    if (packed_) return ReadPacked(from, piece, static_cast<uint8_t*>(out) + first);
    const uint64_t offset = tile_.addr + from * size_;
    const size_t bytes = static_cast<size_t>(piece) * size_;
    NoteUnwritten(offset, bytes);
    std::memcpy(static_cast<char*>(out) + static_cast<size_t>(first) * size_, memory_.at(offset),
                bytes);
  });
}

void TileIo::Write(int64_t row, int64_t col, int64_t count, const void* from) {
  ForRuns(row, col, count, [&](uint64_t to, int64_t piece, int64_t first) {
    if (packed_) return WritePacked(to, piece, static_cast<const uint8_t*>(from) + first);
    const uint64_t offset = tile_.addr + to * size_;
    const size_t bytes = static_cast<size_t>(piece) * size_;
    memory_.MarkWritten(offset, bytes);
    std::memcpy(memory_.at(offset),
                static_cast<const char*>(from) + static_cast<size_t>(first) * size_, bytes);
  });
}

void TileIo::ReadReal(int64_t row, int64_t col, int64_t count, float* out) {
  if (tile_.type == Type::kF32) return Read(row, col, count, out);
  thread_local std::vector<char> buffer;
  buffer.resize(static_cast<size_t>(count) * size_);
  Read(row, col, count, buffer.data());
  DecodeReals(tile_.type, buffer.data(), count, out);
}

void TileIo::WriteReal(int64_t row, int64_t col, int64_t count, const float* from) {
  if (tile_.type == Type::kF32) return Write(row, col, count, from);
  thread_local std::vector<char> buffer;
  buffer.resize(static_cast<size_t>(count) * size_);
  EncodeReals(tile_.type, from, count, buffer.data());
  Write(row, col, count, buffer.data());
}

void TileIo::ReadInteger(int64_t row, int64_t col, int64_t count, int64_t* out) {
  thread_local std::vector<char> buffer;
  buffer.resize(static_cast<size_t>(count) * size_);
  Read(row, col, count, buffer.data());
  DecodeIntegers(tile_.type, buffer.data(), count, out);
}

void TileIo::WriteInteger(int64_t row, int64_t col, int64_t count, const int64_t* from) {
  thread_local std::vector<char> buffer;
  buffer.resize(static_cast<size_t>(count) * size_);
  EncodeIntegers(tile_.type, from, count, buffer.data());
  Write(row, col, count, buffer.data());
}

void DecodeReals(Type type, const void* bytes, int64_t count, float* out) {
  switch (type) {
    case Type::kF32:
      std::memcpy(out, bytes, static_cast<size_t>(count) * 4);
      return;
    case Type::kF16: {
      const std::vector<float>& table = HalfTable();
      return DecodeEach<uint16_t>(bytes, count, out, [&](uint16_t bits) { return table[bits]; });
    }
    case Type::kBf16:
      return DecodeEach<uint16_t>(bytes, count, out, kerf_pto::Bfloat16Value);
    case Type::kE4M3:
      return DecodeEach<uint8_t>(bytes, count, out, [](uint8_t b) {
        return kerf_pto::DecodeSmall(b, kerf_pto::kE4M3Format);
      });
    case Type::kE5M2:
      return DecodeEach<uint8_t>(bytes, count, out, [](uint8_t b) {
        return kerf_pto::DecodeSmall(b, kerf_pto::kE5M2Format);
      });
    case Type::kE8M0:
      return DecodeEach<uint8_t>(bytes, count, out, kerf_pto::E8M0Value);
    case Type::kE2M1x2:
      return DecodeEach<uint8_t>(bytes, count, out, [](uint8_t b) {
        return kerf_pto::DecodeSmall(b, kerf_pto::kE2M1Format);
      });
    case Type::kE1M2x2:
      return DecodeEach<uint8_t>(bytes, count, out, [](uint8_t b) {
        return kerf_pto::DecodeSmall(b, kerf_pto::kE1M2Format);
      });
    case Type::kF64:
      return DecodeEach<double>(bytes, count, out,
                                [](double value) { return static_cast<float>(value); });
    default: {
      std::vector<int64_t> integers(static_cast<size_t>(count));
      DecodeIntegers(type, bytes, count, integers.data());
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<float>(integers[static_cast<size_t>(i)]);
    }
  }
}

void EncodeReals(Type type, const float* values, int64_t count, void* out) {
  const auto small = [&](kerf_pto::SmallFloat format) {
    EncodeEach<uint8_t>(values, count, out, [&](float value) {
      return kerf_pto::EncodeFloat(value, format, kerf_pto::Rounding::kRint);
    });
  };
  switch (type) {
    case Type::kF32:
      std::memcpy(out, values, static_cast<size_t>(count) * 4);
      return;
    case Type::kF16:
      return EncodeEach<uint16_t>(values, count, out, kerf_pto::HalfBits);
    case Type::kBf16:
      return EncodeEach<uint16_t>(values, count, out, kerf_pto::Bfloat16Bits);
    case Type::kE4M3:
      return small(kerf_pto::kE4M3Format);
    case Type::kE5M2:
      return small(kerf_pto::kE5M2Format);
    case Type::kE2M1x2:
      return small(kerf_pto::kE2M1Format);
    case Type::kE1M2x2:
      return small(kerf_pto::kE1M2Format);
    case Type::kF64:
      return EncodeEach<double>(values, count, out,
                                [](float value) { return static_cast<double>(value); });
    default: {
      std::vector<int64_t> integers(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i)
        integers[static_cast<size_t>(i)] = static_cast<int64_t>(values[i]);
      EncodeIntegers(type, integers.data(), count, out);
    }
  }
}

void DecodeIntegers(Type type, const void* bytes, int64_t count, int64_t* out) {
  switch (type) {
    case Type::kI8:
      return Widen<int8_t>(bytes, count, out);
    case Type::kI16:
      return Widen<int16_t>(bytes, count, out);
    case Type::kI32:
      return Widen<int32_t>(bytes, count, out);
    case Type::kI64:
      return Widen<int64_t>(bytes, count, out);
    case Type::kU16:
      return Widen<uint16_t>(bytes, count, out);
    case Type::kU32:
      return Widen<uint32_t>(bytes, count, out);
    case Type::kU64:
      return Widen<uint64_t>(bytes, count, out);
    case Type::kI4:
      Widen<uint8_t>(bytes, count, out);
      for (int64_t i = 0; i < count; ++i) out[i] = ((out[i] & 0xf) ^ 8) - 8;
      return;
    default:
      return Widen<uint8_t>(bytes, count, out);
  }
}

void EncodeIntegers(Type type, const int64_t* values, int64_t count, void* out) {
  switch (TypeBytes(type)) {
    case 1:
      return Narrow<uint8_t>(values, count, out);
    case 2:
      return Narrow<uint16_t>(values, count, out);
    case 4:
      return Narrow<uint32_t>(values, count, out);
    default:
      return Narrow<uint64_t>(values, count, out);
  }
}

}  // namespace kerf::sim
