// Who holds a device or waits for one: what lock and ticket files say
// (docs/formats/device_locks.md).
//
// For messages only. Whether a device is held is decided by the kernel's lock on the file, which
// ends with the process; the text may be left over from a dead one, torn or garbage.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "device/device.h"

namespace kerf::device {

struct Owner {
  int64_t pid = 0;
  // When the process began, in clock ticks since boot (/proc/PID/stat, field 22). With the pid it
  // names one process; the pid alone is given again to another one.
  uint64_t start = 0;
  std::string host;
  std::string purpose;          // "kerf verify relu"
  std::string since;            // RFC 3339
  std::vector<DeviceId> wants;  // of a ticket: the devices it waits for

  // "process 4711 on box (kerf verify relu) since 2026-…"
  [[nodiscard]] std::string ToString() const;
};

// This process, now.
Owner OwnOwner(Clock& clock, const std::string& purpose);

std::string EncodeOwner(const Owner& owner);  // one line of JSON
std::optional<Owner> DecodeOwner(std::string_view text);

// Field 22 of the text of /proc/PID/stat; nullopt when it is not of that form. The command name in
// it may hold blanks and parentheses.
std::optional<uint64_t> ParseStartTime(std::string_view stat);
// nullopt when there is no such process.
std::optional<uint64_t> StartTimeOf(int64_t pid, const std::string& proc = "/proc");

// Whether that very process runs, not another one that got its pid. True for another host's, which
// cannot be asked.
bool IsAlive(const Owner& owner, const std::string& proc = "/proc");

}  // namespace kerf::device
