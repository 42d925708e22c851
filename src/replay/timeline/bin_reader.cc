#include "replay/timeline/bin_reader.h"

#include <cstring>

namespace kerf::timeline {
namespace {

constexpr size_t kHeader = 12;
constexpr size_t kPath = 4096;
constexpr uint8_t kNone = 0x5A;

Error At(uint64_t offset, const std::string& what) {
  return Corrupt("visualize_data.bin: block at byte " + std::to_string(offset) + ": " + what);
}

// Insight takes the file for something else otherwise.
Status CheckFirst(uint64_t size, uint8_t version, uint8_t reserved) {
  if (size == 0) return At(0, "the first block is empty");
  if (version != kNone || reserved != kNone) {
    return At(0,
              "bytes 10 and 11 of the first block must be 5A 5A (INSTR_API must not come first)");
  }
  return {};
}

}  // namespace

Result<std::vector<BinBlock>> ReadBin(std::string_view bytes) {
  std::vector<BinBlock> blocks;
  uint64_t at = 0;
  while (bytes.size() - at >= kHeader) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[at + i]); };
    BinBlock block{.type = byte(8), .version = byte(10), .offset = at};
    const uint8_t padding = byte(9);
    if (blocks.empty()) KERF_RETURN_IF_ERROR(CheckFirst(size, byte(10), byte(11)));
    uint64_t begin = at + kHeader;
    if (block.is(BlockType::kCode)) {
      if (bytes.size() - begin < kPath) return At(at, "the path of a CODE block is cut off");
      const std::string_view path = bytes.substr(begin, kPath);
      block.path = path.substr(0, path.find('\0'));
      begin += kPath;
    }
    if (size > bytes.size() - begin) {
      return At(at, "claims " + std::to_string(size) + " bytes, " +
                        std::to_string(bytes.size() - begin) +
                        " are left (size of data block is greater than bin file size)");
    }
    if (padding > 3 || padding >= size) {
      return At(at, "holds no payload after " + std::to_string(padding) + " bytes of padding");
    }
    block.payload = bytes.substr(begin, size - padding);
    blocks.push_back(std::move(block));
    at = begin + size;
  }
  if (blocks.empty()) return Corrupt("visualize_data.bin: holds no block");
  return blocks;
}

}  // namespace kerf::timeline
