#include "device/device_list.h"

#include <algorithm>
#include <limits>

#include "device/text_scan.h"

namespace kerf::device {
namespace {

Error Bad(const DeviceList& list, std::string_view part, const std::string& why) {
  return InvalidInput(list.variable + "='" + list.value + "': '" + std::string(part) + "' " + why);
}

Status AddEntry(DeviceList& list, std::string_view part) {
  if (part.empty()) return Bad(list, part, "is empty; write numbers with commas, like 0,1,2");
  if (const std::optional<int64_t> number = Number(part)) {
    if (*number > std::numeric_limits<int>::max()) return Bad(list, part, "is too large");
    const int index = static_cast<int>(*number);
    if (std::find(list.indexes.begin(), list.indexes.end(), index) != list.indexes.end()) {
      return Bad(list, part, "comes twice");
    }
    list.indexes.push_back(index);
    return {};
  }
  const Result<DeviceId> id = DeviceId::Parse(part);
  if (!id.ok()) return Bad(list, part, "is neither a number nor an id like cuda:0");
  if (std::find(list.ids.begin(), list.ids.end(), *id) != list.ids.end()) {
    return Bad(list, part, "comes twice");
  }
  list.ids.push_back(*id);
  return {};
}

}  // namespace

bool DeviceList::Concerns(Backend backend) const {
  if (backend != Backend::kCpu && !indexes.empty()) return true;
  return std::any_of(ids.begin(), ids.end(),
                     [&](const DeviceId& id) { return id.backend == backend; });
}

bool DeviceList::Chooses(const Device& device) const {
  if (!Concerns(device.backend())) return true;
  if (std::find(ids.begin(), ids.end(), device.id) != ids.end()) return true;
  return device.backend() != Backend::kCpu &&
         std::find(indexes.begin(), indexes.end(), device.index) != indexes.end();
}

Result<std::optional<DeviceList>> ReadDeviceList(const Environment& environment) {
  for (const char* variable : {"KERF_DEVICES", "AIKG_DEVICES_LIST", "AKG_AGENTS_DEVICES_LIST"}) {
    const std::string value = environment(variable).value_or("");
    if (Trim(value).empty()) continue;
    DeviceList list{.variable = variable, .value = value};
    for (const std::string_view part : Split(value, ',')) {
      KERF_RETURN_IF_ERROR(AddEntry(list, Trim(part)));
    }
    return std::optional<DeviceList>(std::move(list));
  }
  return std::optional<DeviceList>();
}

Result<std::vector<Device>> Choose(const DeviceList& list, Backend backend,
                                   const std::vector<Device>& devices) {
  if (!list.Concerns(backend)) return devices;
  std::vector<Device> chosen;
  const auto add = [&](const std::string& entry, const auto& matches) -> Status {
    const auto found = std::find_if(devices.begin(), devices.end(), matches);
    if (found == devices.end()) {
      return NotFound(list.variable + "='" + list.value + "': there is no " + BackendName(backend) +
                      " device " + entry + "; 'kerf devices --backend " + BackendName(backend) +
                      "' shows what there is");
    }
    const auto same = [&](const Device& other) { return other.id == found->id; };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(*found);
    return {};
  };
  if (backend != Backend::kCpu) {
    for (const int index : list.indexes) {
      KERF_RETURN_IF_ERROR(
          add(std::to_string(index), [&](const Device& device) { return device.index == index; }));
    }
  }
  for (const DeviceId& id : list.ids) {
    if (id.backend != backend) continue;
    KERF_RETURN_IF_ERROR(add(id.ToString(), [&](const Device& device) { return device.id == id; }));
  }
  return chosen;
}

}  // namespace kerf::device
