#include "device/visible_devices.h"

#include <algorithm>

#include "device/text_scan.h"

namespace kerf::device {
namespace {

// The position in `devices`; nullopt when the entry names none, or more than one.
std::optional<size_t> Find(std::string_view entry, const std::vector<Device>& devices) {
  if (const std::optional<int64_t> number = Number(entry)) {
    if (static_cast<uint64_t>(*number) >= devices.size()) return std::nullopt;
    return static_cast<size_t>(*number);
  }
  std::optional<size_t> found;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (entry.empty() || Lower(devices[i].uuid).rfind(Lower(entry), 0) != 0) continue;
    if (found.has_value()) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

void ApplyVisible(const std::string& variable, const Environment& environment,
                  ProbeResult& result) {
  const std::optional<std::string> value = environment(variable);
  if (!value.has_value() || result.devices.empty()) return;
  std::vector<size_t> chosen;
  if (!Trim(*value).empty()) {
    for (const std::string_view part : Split(*value, ',')) {
      const std::string_view entry = Trim(part);
      const std::optional<size_t> position = Find(entry, result.devices);
      if (position.has_value() &&
          std::find(chosen.begin(), chosen.end(), *position) == chosen.end()) {
        chosen.push_back(*position);
        continue;
      }
      result.notes.push_back(variable + "=" + *value + ": '" + std::string(entry) +
                             (position.has_value() ? "' comes twice" : "' names no device") +
                             "; it and what follows is hidden");
      break;
    }
  }
  std::vector<Device> visible;
  for (const size_t position : chosen) {
    visible.push_back(result.devices[position]);
    visible.back().index = static_cast<int>(visible.size()) - 1;
  }
  if (visible.empty()) {
    result.why_none = variable + "='" + *value + "' hides all " +
                      std::to_string(result.devices.size()) + " devices";
  }
  result.devices = std::move(visible);
}

}  // namespace kerf::device
