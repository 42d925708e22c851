// ScanKernel on any bytes: no crash, lines kept, slots in range.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "artifact/kernel_args.h"
#include "expect.h"
#include "replay/kernel/kernel_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string code = kerf::kernel::CodeOnly(text);
  kerf::Expect(code.size() == text.size(), "nothing moves");
  kerf::Expect(
      std::count(code.begin(), code.end(), '\n') == std::count(text.begin(), text.end(), '\n'),
      "lines stay");
  for (const int slot : kerf::kernel::ScanKernel(text).slots)
    kerf::Expect(slot >= 0 && slot < kerf::kArgSlots, "slots are in range");
  return 0;
}
