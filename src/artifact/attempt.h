// One candidate of a task that was judged, as later prompts remember it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kerf {

struct Attempt {
  int64_t step = 0;  // of the VERIFY record
  std::string code;
  std::string strategy;  // the coder's own words
  bool passed = false;
  std::string status;   // "wrong_value"
  std::string reason;   // "partly_untouched"
  std::string summary;  // one line
  std::string log;
  std::optional<double> speedup;  // against the first baseline, when measured
};

}  // namespace kerf
