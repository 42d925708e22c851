// One line of `kerf trace append`'s input. docs/formats/trace.md section 4.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "trace/text_input.h"

namespace kerf::trace {

struct AppendRequest {
  std::string op;
  std::string task;
  TextInput input;
};

// Strict about member names, so that a misspelt "propmt" is not silently lost; exact about texts.
// Overwrites the line: its texts are left unescaped in it, and the request refers to them there.
Result<AppendRequest> ParseAppendRequest(std::span<char> line);

}  // namespace kerf::trace
