// Which devices the user wants used: KERF_DEVICES, else AIKG_DEVICES_LIST, else
// AKG_AGENTS_DEVICES_LIST, the first that is set and not empty.
//
// "0,1,2": numbers as the backend's run time gives them (Device::index), spaces allowed; they mean
// accelerators, never cpu slots. Ids ("cuda:4", "cpu:0") mean one device of one backend. A bad
// value is an error that names the variable and the bad part; AIKG falls back to its argument with
// a warning, and then runs on a device that nobody asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/environment.h"

namespace kerf::device {

struct DeviceList {
  std::string variable;  // where it comes from
  std::string value;
  std::vector<int> indexes;
  std::vector<DeviceId> ids;

  // Whether the list chooses `device`.
  [[nodiscard]] bool Chooses(const Device& device) const;
  // Whether it says anything about the backend; when not, all of its devices may be used.
  [[nodiscard]] bool Concerns(Backend backend) const;
};

// nullopt when no variable is set.
Result<std::optional<DeviceList>> ReadDeviceList(const Environment& environment);

// The devices of one backend that the list chooses, in its order; all of them when it says nothing
// about the backend. kNotFound with the variable and the entry that names none.
Result<std::vector<Device>> Choose(const DeviceList& list, Backend backend,
                                   const std::vector<Device>& devices);

}  // namespace kerf::device
