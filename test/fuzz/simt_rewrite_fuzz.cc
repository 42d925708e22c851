// The rewriter on any bytes: it must not fail, must keep the lines, and must find launches where
// they are.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "expect.h"
#include "loop/verify/launch_rewrite.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto lines = std::count(source.begin(), source.end(), '\n');
  for (const bool check : {true, false}) {
    const kerf::verify::SimtSource out =
        kerf::verify::RewriteForSimt(source, {.check_shared = check, .torch = !check});
    kerf::Expect(std::count(out.text.begin(), out.text.end(), '\n') == lines, "lines moved");
    for (const kerf::verify::LaunchSite& site : out.launches) {
      kerf::Expect(source.substr(site.open, 3) == "<<<" && source.substr(site.close, 3) == ">>>" &&
                       site.begin <= site.open && site.close < site.end,
                   "a launch is not where it is said to be");
    }
  }
  return 0;
}
