// A machine as data: chips/*.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace kerf {

struct Chip {
  std::string name;    // "h200"
  std::string vendor;  // "nvidia"
  std::string arch;    // "sm_90"
  uint64_t memory_bytes = 0;
  double memory_bandwidth = 0;  // bytes per second
  uint64_t l2_bytes = 0;
  std::map<std::string, double> flops;  // dense peaks, by type
  std::map<std::string, std::string> origin;
};

// kCorrupt with the line when the text is no description.
Result<Chip> ParseChip(const std::string& text);

}  // namespace kerf
