// Devices that failed a check are set aside for every process of the user, with the reason, until
// the record expires or `kerf devices --reset ID` removes it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "device/device.h"
#include "device/runtime_dir.h"

namespace kerf::device {

struct HealthRecord {
  std::string reason;
  std::string time;     // when it was set aside; RFC 3339
  std::string expires;  // empty: never
};

// A failed check is often the fault of what ran before; an hour later it deserves another try.
inline constexpr std::chrono::seconds kSetAsideFor = std::chrono::hours(1);

Status SetAside(const RuntimeDir& dir, Clock& clock, const DeviceId& id, const std::string& reason,
                std::chrono::seconds for_how_long = kSetAsideFor);
// Whether there was a record to remove.
Result<bool> ClearAside(const RuntimeDir& dir, const DeviceId& id);
// nullopt when the device is not set aside, or its record has expired. A damaged record keeps the
// device aside and says so: handing out a device that somebody found broken costs more than asking.
Result<std::optional<HealthRecord>> ReadAside(const RuntimeDir& dir, Clock& clock,
                                              const DeviceId& id);

}  // namespace kerf::device
