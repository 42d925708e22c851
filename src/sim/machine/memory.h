// One on-chip memory of one core: its bytes, and which of them were ever written.
#pragma once

#include <kerf_pto/abi.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace kerf::sim {

using kerf_pto::Mem;

// What a byte holds that nobody wrote: as float a quiet NaN with a payload, as an integer far off.
inline constexpr uint8_t kPoison = 0xfb;

class CoreMemory {
 public:
  explicit CoreMemory(size_t size) : bytes_(size, kPoison), written_(size, 0) {}

  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] char* at(uint64_t offset) {
    return reinterpret_cast<char*>(bytes_.data()) + offset;
  }
  void MarkWritten(uint64_t offset, size_t count) {
    std::memset(written_.data() + offset, 1, count);
  }
  // The first of these bytes that was never written; `count` when all were.
  [[nodiscard]] size_t FirstUnwritten(uint64_t offset, size_t count) const {
    const uint8_t* begin = written_.data() + offset;
    const void* hole = std::memchr(begin, 0, count);
    return hole == nullptr ? count : static_cast<size_t>(static_cast<const uint8_t*>(hole) - begin);
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<uint8_t> written_;
};

// Bytes of each memory, by Mem; reference: the family's documents (chips/ has the same numbers).
struct MemorySizes {
  size_t bytes[kerf_pto::kMemCount];
};
inline constexpr size_t kKiB = 1024;
inline constexpr MemorySizes kA2A3Memories{
    {0, 192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB, 2 * kKiB, 0, 0}};
inline constexpr MemorySizes kA5Memories{{0, 256 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB,
                                          256 * kKiB, 4 * kKiB, 4 * kKiB, 4 * kKiB, 4 * kKiB}};

const char* MemName(Mem mem);  // "UB"

}  // namespace kerf::sim
