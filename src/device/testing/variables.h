// An environment made of a list.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "device/environment.h"

namespace kerf::device {

inline Environment Variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto it = values.find(name);
    if (it == values.end()) return std::nullopt;
    return it->second;
  };
}

}  // namespace kerf::device
