// The CSV readers and the names of their files, on any bytes: no crash.
#include <cstdint>
#include <string>

#include "expect.h"
#include "replay/timeline/csv_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto instr = kerf::timeline::ParseInstrCsv("f", text);
  const auto code = kerf::timeline::ParseCodeCsv("f", text);
  kerf::Expect(!(instr.ok() && code.ok()), "no text is both tables");
  kerf::Expect(!(kerf::timeline::IsInstrCsv(text) && kerf::timeline::IsCodeCsv(text)),
               "no name is both");
  kerf::timeline::IsCoreName(text);
  return 0;
}
