// visualize_data.bin: blocks back to back, little endian, no file header.
//
//   u64 size of payload and padding | u8 type | u8 padding | u8 version | u8 reserved
//   [CODE only: 4096 bytes of path] | payload | padding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kerf::timeline {

enum class BlockType : uint8_t { kCode = 1, kTrace = 2, kFileApi = 3, kInstrApi = 4 };

struct BinBlock {
  uint8_t type = 0;
  uint8_t version = 0;
  uint64_t offset = 0;       // of its header
  std::string path;          // CODE only
  std::string_view payload;  // without padding; points into the bytes given

  [[nodiscard]] bool is(BlockType wanted) const { return type == static_cast<uint8_t>(wanted); }
};

// kCorrupt, with the offset, where Insight would refuse the file. Fewer than 12 bytes at the end
// are tolerated, as Insight tolerates them.
Result<std::vector<BinBlock>> ReadBin(std::string_view bytes);

}  // namespace kerf::timeline
