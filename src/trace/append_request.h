// One line of `kerf trace append`'s input. docs/formats/trace.md section 4.
#pragma once

#include <string>
#include <string_view>

#include "artifact/step.h"
#include "base/result.h"

namespace kerf::trace {

struct AppendRequest {
  std::string op;
  std::string task;
  StepInput input;
};

// Strict about member names, so that a misspelt "propmt" is not silently lost; exact about texts.
Result<AppendRequest> ParseAppendRequest(std::string_view line);

}  // namespace kerf::trace
