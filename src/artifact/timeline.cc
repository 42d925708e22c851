#include "artifact/timeline.h"

#include <algorithm>

namespace kerf {

TimelineCore& Timeline::Core(const std::string& name) {
  const auto found = std::lower_bound(
      cores.begin(), cores.end(), name,
      [](const TimelineCore& core, const std::string& wanted) { return core.name < wanted; });
  if (found != cores.end() && found->name == name) return *found;
  return *cores.insert(found, TimelineCore{.name = name});
}

void Timeline::Sort() {
  for (TimelineCore& core : cores) {
    std::stable_sort(
        core.slices.begin(), core.slices.end(),
        [](const TimelineSlice& a, const TimelineSlice& b) { return a.start_us < b.start_us; });
  }
}

}  // namespace kerf
