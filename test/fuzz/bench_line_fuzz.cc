// Lines of bench.jsonl, verdicts and sizes.json of any bytes: no crash, and what is accepted can be
// written and read again.
#include <cstdint>
#include <string_view>

#include "cli/bench/bench_result.h"
#include "expect.h"
#include "loop/task/task_shrink.h"

using kerf::Expect;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kerf::cli::BenchTask task;
  (void)kerf::cli::TakeVerdict(text, task);
  (void)kerf::task::ParseSizes(text);
  const auto line = kerf::cli::ParseBenchLine(text);
  if (!line.ok()) {
    Expect(!line.error().message.empty(), "an error says why");
    return 0;
  }
  const std::string written = kerf::cli::BenchTaskJson(line->task, line->settings);
  const auto again = kerf::cli::ParseBenchLine(written);
  Expect(again.ok(), "what was written can be read");
  Expect(kerf::cli::BenchTaskJson(again->task, again->settings) == written, "and is the same");
  return 0;
}
