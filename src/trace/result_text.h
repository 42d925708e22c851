// What goes into a designer's or coder's result file. docs/formats/trace.md, "The result file".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kerf::trace {

struct CodeReply {
  std::string code;
  std::string description;
};

// The last object {"code": string, "description": string} in `reply`, wherever it stands. nullopt when there is none, or when the
// text nests so strangely that looking further would take more than linear time.
std::optional<CodeReply> FindCodeReply(std::string_view reply);

// code, three newlines, the description between two lines of ''' (no newline at the end).
std::string FormatCodeReply(const CodeReply& reply);

}  // namespace kerf::trace
