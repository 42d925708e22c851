// Rows of a tile, whatever its layout: where elements lie, and copying runs of them.
#pragma once

#include <kerf_pto/abi.h>

#include <cstdint>

#include "sim/machine/memory.h"

namespace kerf::sim {

using kerf_pto::Form;
using kerf_pto::TileRef;
using kerf_pto::Type;

// Bytes of one element outside of a memory: one of 4 bits then has a byte of its own.
inline constexpr size_t TypeBytes(Type type) {
  constexpr uint8_t kBytes[kerf_pto::kTypeCount] = {4, 2, 4, 2, 1, 1, 2, 8, 8, 2,
                                                    4, 1, 1, 1, 1, 8, 1, 1, 1, 1};
  return kBytes[static_cast<size_t>(type)];
}
// What `elements` take in a memory.
inline constexpr uint64_t StoredBytes(Type type, uint64_t elements) {
  const uint64_t bytes = elements * TypeBytes(type);
  return kerf_pto::PerByte(type) == 1 ? bytes : (bytes + 1) / 2;
}
const char* TypeName(Type type);  // "float32"
bool IsFloat(Type type);

// In elements from the tile's address.
int64_t ElementOffset(const TileRef& tile, int64_t row, int64_t col);
// From the tile's address to behind its capacity, and behind its valid region.
uint64_t CapacityBytes(const TileRef& tile);
uint64_t TouchedBytes(const TileRef& tile);

// A tile whose place has been checked, in the memory it lies in.
class TileIo {
 public:
  TileIo(const TileRef& tile, CoreMemory& memory);

  [[nodiscard]] const TileRef& tile() const { return tile_; }
  [[nodiscard]] size_t element_bytes() const { return size_; }

  // `count` elements of `row` from `col` on, as they are, except that those of 4 bits get a byte
  // each. Notes bytes that nobody wrote.
  void Read(int64_t row, int64_t col, int64_t count, void* out);
  void Write(int64_t row, int64_t col, int64_t count, const void* from);
  // As float (real types) or as integers.
  void ReadReal(int64_t row, int64_t col, int64_t count, float* out);
  void WriteReal(int64_t row, int64_t col, int64_t count, const float* from);
  void ReadInteger(int64_t row, int64_t col, int64_t count, int64_t* out);
  void WriteInteger(int64_t row, int64_t col, int64_t count, const int64_t* from);

  // Whether something read was never written, and where that was.
  [[nodiscard]] bool read_unwritten() const { return read_unwritten_; }
  [[nodiscard]] uint64_t unwritten_at() const { return unwritten_at_; }

 private:
  template <typename F>
  void ForRuns(int64_t row, int64_t col, int64_t count, F&& run) const;

  void ReadPacked(uint64_t first, int64_t count, uint8_t* out);
  void WritePacked(uint64_t first, int64_t count, const uint8_t* from);
  void NoteUnwritten(uint64_t offset, size_t bytes);

  const TileRef tile_;
  CoreMemory& memory_;
  const size_t size_;
  const bool packed_;
  bool read_unwritten_ = false;
  uint64_t unwritten_at_ = 0;
};

// Of a sequence of 4-bit elements, two in a byte, the first in the low half.
inline uint8_t PackedAt(const void* bytes, uint64_t index) {
  const uint8_t byte = static_cast<const uint8_t*>(bytes)[index / 2];
  return index % 2 == 0 ? byte & 0xf : byte >> 4;
}
inline void SetPackedAt(void* bytes, uint64_t index, uint8_t value) {
  uint8_t& byte = static_cast<uint8_t*>(bytes)[index / 2];
  byte = static_cast<uint8_t>(index % 2 == 0 ? (byte & 0xf0) | (value & 0xf)
                                             : (byte & 0xf) | (value << 4));
}

// Values of `type` in `bytes`, as float and back (nearest even).
void DecodeReals(Type type, const void* bytes, int64_t count, float* out);
void EncodeReals(Type type, const float* values, int64_t count, void* out);
void DecodeIntegers(Type type, const void* bytes, int64_t count, int64_t* out);
void EncodeIntegers(Type type, const int64_t* values, int64_t count, void* out);

}  // namespace kerf::sim
