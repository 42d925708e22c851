// The machine in words, for prompts.
#pragma once

#include <string>

#include "artifact/task_spec.h"
#include "base/result.h"

namespace kerf::conduct {

// From chips/ and, for the CPU, from this machine.
Result<std::string> HardwareText(const TaskSpec& spec);

}  // namespace kerf::conduct
