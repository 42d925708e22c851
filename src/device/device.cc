#include "device/device.h"

#include <charconv>

namespace kerf::device {

const char* BackendName(Backend backend) {
  switch (backend) {
    case Backend::kCpu:
      return "cpu";
    case Backend::kCuda:
      return "cuda";
    case Backend::kRocm:
      return "rocm";
    case Backend::kAscend:
      return "ascend";
  }
  return "cpu";
}

std::optional<Backend> ParseBackend(std::string_view name) {
  for (const Backend backend : kAllBackends) {
    if (name == BackendName(backend)) return backend;
  }
  return std::nullopt;
}

std::string DeviceId::ToString() const {
  return std::string(BackendName(backend)) + ":" + std::to_string(number);
}

std::string DeviceId::FileStem() const {
  return std::string(BackendName(backend)) + "-" + std::to_string(number);
}

Result<DeviceId> DeviceId::Parse(std::string_view text) {
  const Error bad = InvalidInput("'" + std::string(text) +
                                 "' is no device id; write it like cuda:0 (backends: cpu, cuda, "
                                 "rocm, ascend)");
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad;
  const std::optional<Backend> backend = ParseBackend(text.substr(0, colon));
  const std::string_view digits = text.substr(colon + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!backend.has_value() || digits.empty() || digits.front() == '-' || error != std::errc() ||
      end != digits.data() + digits.size()) {
    return bad;
  }
  return DeviceId{*backend, number};
}

std::string JoinIds(const std::vector<DeviceId>& ids) {
  std::string joined;
  for (const DeviceId& id : ids) joined += (joined.empty() ? "" : ", ") + id.ToString();
  return joined;
}

const char* HealthStateName(HealthState state) {
  switch (state) {
    case HealthState::kGood:
      return "good";
    case HealthState::kDoubtful:
      return "doubtful";
    case HealthState::kSetAside:
      return "set aside";
  }
  return "good";
}

}  // namespace kerf::device
