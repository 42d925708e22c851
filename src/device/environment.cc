#include "device/environment.h"

#include <cstdlib>

namespace kerf::device {

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

}  // namespace kerf::device
