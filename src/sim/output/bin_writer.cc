#include "sim/output/bin_writer.h"

#include <cstring>

namespace kerf::sim {
namespace {

constexpr uint8_t kTrace = 2;
constexpr uint8_t kCode = 1;
constexpr size_t kPathBytes = 4096;

std::string Header(uint8_t type, uint8_t version, uint64_t payload, uint8_t padding) {
  const uint64_t size = payload + padding;
  std::string header(12, '\0');
  std::memcpy(header.data(), &size, sizeof size);
  header[8] = static_cast<char>(type);
  header[9] = static_cast<char>(padding);
  header[10] = static_cast<char>(version);
  header[11] = '\x5A';
  return header;
}

uint8_t PaddingOf(uint64_t bytes) { return static_cast<uint8_t>((4 - bytes % 4) % 4); }

Status CopyTrace(FileSystem& fs, const std::string& trace, uint64_t bytes, File& out) {
  constexpr uint64_t kPiece = uint64_t{4} << 20;
  for (uint64_t at = 0; at < bytes; at += kPiece) {
    KERF_ASSIGN_OR_RETURN(const std::string piece,
                          fs.ReadRange(trace, at, std::min(kPiece, bytes - at)));
    if (piece.empty()) return IoError(trace + ": became shorter while it was copied");
    KERF_RETURN_IF_ERROR(out.Write(piece));
  }
  return {};
}

}  // namespace

Status WriteBin(FileSystem& fs, const std::string& path, const std::string& trace,
                uint64_t trace_bytes, const std::vector<BinBlock>& blocks) {
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs.OpenNew(path));
  const uint8_t padding = PaddingOf(trace_bytes);
  KERF_RETURN_IF_ERROR(file->Write(Header(kTrace, 0x5A, trace_bytes, padding)));
  KERF_RETURN_IF_ERROR(CopyTrace(fs, trace, trace_bytes, *file));
  KERF_RETURN_IF_ERROR(file->Write(std::string(padding, '\0')));
  for (const BinBlock& block : blocks) {
    // An empty payload makes the whole file unreadable for Insight.
    if (block.payload.empty() || block.path.size() >= kPathBytes) continue;
    const uint8_t pad = PaddingOf(block.payload.size());
    std::string bytes = Header(block.type, block.version, block.payload.size(), pad);
    if (block.type == kCode)
      bytes += block.path + std::string(kPathBytes - block.path.size(), '\0');
    bytes += block.payload;
    bytes.append(pad, '\0');
    KERF_RETURN_IF_ERROR(file->Write(bytes));
  }
  return fs.SetMode(path, 0640);
}

}  // namespace kerf::sim
