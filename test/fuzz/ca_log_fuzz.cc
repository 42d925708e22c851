// Logs of the cycle simulator, any bytes: no crash, no slice that ends before it starts.
#include <cstdint>
#include <string_view>

#include "expect.h"
#include "replay/timeline/ca_dump_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t skipped = 0;
  const auto records =
      kerf::timeline::ParseCaLog({reinterpret_cast<const char*>(data), size}, skipped);
  kerf::TimelineCore core;
  const size_t unjoined = kerf::timeline::AddCaCore(records, records, 1850.0, core);
  kerf::Expect(core.slices.size() + unjoined == records.size(), "nothing is lost in silence");
  for (const kerf::TimelineSlice& slice : core.slices)
    kerf::Expect(slice.duration_us >= 0, "time goes on");
  return 0;
}
