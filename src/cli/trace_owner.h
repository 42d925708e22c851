#pragma once

#include <string>

#include "base/clock.h"

namespace kerf::cli {

// "process 1234 on host since 2026-…": shown to whoever wants to record the same task.
std::string TraceOwner(Clock& clock);

}  // namespace kerf::cli
