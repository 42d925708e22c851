// ReadBin on any bytes: no crash, and payloads lie in the file, in order.
#include <cstdint>
#include <string_view>

#include "expect.h"
#include "replay/timeline/bin_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto blocks = kerf::timeline::ReadBin(bytes);
  if (!blocks.ok()) return 0;
  const char* end = bytes.data();
  for (const kerf::timeline::BinBlock& block : *blocks) {
    kerf::Expect(!block.payload.empty(), "a block holds something");
    kerf::Expect(block.payload.data() >= end, "blocks follow each other");
    end = block.payload.data() + block.payload.size();
    kerf::Expect(end <= bytes.data() + bytes.size(), "a payload lies in the file");
  }
  return 0;
}
