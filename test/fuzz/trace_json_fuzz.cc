// A trace.json of any bytes through reading, checking, summary and conversion: no crash, sums that
// can be.
#include <cmath>
#include <cstdint>
#include <string>

#include "base/json_reader.h"
#include "expect.h"
#include "replay/timeline/simulator_dir.h"
#include "replay/timeline/timeline_convert.h"
#include "replay/timeline/timeline_summary.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto trace = kerf::timeline::ParseTrace("f", text);
  if (!trace.ok()) return 0;
  std::vector<kerf::timeline::Finding> findings;
  kerf::timeline::CheckSimulatorDir({.trace = *trace, .trace_text = text, .bin = text}, findings);
  const kerf::Timeline timeline = kerf::timeline::TimelineOf(*trace);
  const auto summary = kerf::timeline::Summarize(timeline, 5);
  for (const auto& pipe : summary.pipes)
    kerf::Expect(std::isnan(pipe.busy_us) || pipe.busy_us >= 0, "busy time is not negative");
  const std::string perfetto = kerf::timeline::ToPerfetto(timeline);
  kerf::JsonReader reader(perfetto);
  reader.Skip();
  kerf::Expect(reader.Finish(), "what is written is JSON");
  kerf::timeline::TimelineOf(*trace, "core0");
  return 0;
}
