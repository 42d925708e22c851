// Environment variables are injected, so that tests need not change the process's own.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace kerf::device {

// The value of a variable; nullopt when it is unset. Set but empty is a value: CUDA reads an empty
// CUDA_VISIBLE_DEVICES as "none".
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// That of this process.
Environment ProcessEnvironment();

}  // namespace kerf::device
