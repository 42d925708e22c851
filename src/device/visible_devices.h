// CUDA_VISIBLE_DEVICES and its like: which devices the run time will show, and in which order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/probe.h"

namespace kerf::device {

// Keeps the devices that `variable` names and gives them the run time's numbers, as CUDA does:
// entries are numbers or the beginning of a uuid; the first entry that names no device, or one a
// second time, hides itself and all that follow; an empty value hides everything. Nothing when the
// variable is unset. What was hidden by a bad entry is said in the notes.
void ApplyVisible(const std::string& variable, const Environment& environment, ProbeResult& result);

}  // namespace kerf::device
