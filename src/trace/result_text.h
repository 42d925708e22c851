// What goes into a designer's or coder's result file, and how the raw reply is got back from it.
// docs/formats/trace.md, "The result file".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "base/result.h"

namespace kerf::trace {

// Everything of a reply that its code and description do not say: the text around the two strings,
// and how they were written. Usually a few dozen bytes; it goes into the journal.
struct ReplyFrame {
  std::string before;
  std::string between;
  std::string after;
  bool description_first = false;
  uint64_t code_bytes = 0;  // where the code ends in the result file
  // "plain" or "ascii": JSON with few or with many escapes; "raw": with raw line ends and tabs;
  // else the very literal.
  std::string code_form;
  std::string description_form;
};

struct CodeReply {
  std::string code;
  std::string description;
  ReplyFrame frame;
};

// The last object {"code": string, "description": string} in `reply`, wherever it stands. nullopt
// when there is none, when the reply is not text, or when it nests so strangely that looking
// further would take more than linear time.
std::optional<CodeReply> FindCodeReply(std::string_view reply);

// code, three newlines, the description between two lines of ''' (no newline at the end).
std::string FormatCodeReply(const CodeReply& reply);

// The raw reply, byte for byte, from the result file's content. kCorrupt when that content cannot
// be the frame's.
Result<std::string> RebuildReply(const ReplyFrame& frame, std::string_view result);

std::string EncodeReplyFrame(const ReplyFrame& frame);
bool DecodeReplyFrame(JsonReader& reader, ReplyFrame& frame);

}  // namespace kerf::trace
