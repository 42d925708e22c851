// visualize_data.bin: see replay/timeline/bin_reader.h for the container.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace kerf::sim {

struct BinBlock {
  uint8_t type = 0;
  uint8_t version = 0x5A;
  std::string path;  // of a CODE block
  std::string payload;
};

// First the TRACE block, copied from the file `trace` of `trace_bytes` bytes, then the others.
Status WriteBin(FileSystem& fs, const std::string& path, const std::string& trace,
                uint64_t trace_bytes, const std::vector<BinBlock>& blocks);

}  // namespace kerf::sim
