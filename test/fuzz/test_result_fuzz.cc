// ParseTestResult on any bytes, as a hostile candidate may write them: no crash, and every tensor
// it accepts lies in the bytes.
#include <cstdint>
#include <string>

#include "expect.h"
#include "loop/verify/test_result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto result =
      kerf::verify::ParseTestResult(std::string(reinterpret_cast<const char*>(data), size));
  if (!result.ok()) {
    kerf::Expect(!result.error().message.empty(), "an error says why");
    return 0;
  }
  for (const auto& entry : result->entries) {
    if (!entry.tensor) continue;
    kerf::Expect(kerf::IsSound(entry.spec), "shapes are sound");
    kerf::Expect(entry.offset <= result->bytes.size() &&
                     entry.spec.bytes() <= result->bytes.size() - entry.offset,
                 "tensors lie inside");
  }
  (void)kerf::verify::CompareResults(*result, *result, 0, 1);
  return 0;
}
