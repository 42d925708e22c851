#include "trace/result_text.h"

#include "base/json_reader.h"

namespace kerf::trace {
namespace {

// Reads the object at the front of `text`. Sets `consumed` to its length when it is well-formed.
std::optional<CodeReply> ReadCodeReply(std::string_view text, size_t& consumed, size_t& looked_at) {
  JsonReader reader(text, {.allow_control_characters = true, .max_depth = 64});
  CodeReply reply;
  bool has_code = false;
  bool has_description = false;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    const bool is_string = reader.Peek() == JsonType::kString;
    if (key == "code" && is_string) {
      has_code = reader.ReadString(reply.code);
    } else if (key == "description" && is_string) {
      has_description = reader.ReadString(reply.description);
    } else {
      reader.Skip();
    }
  }
  looked_at = reader.offset();
  consumed = reader.ok() ? reader.offset() : 0;
  if (!reader.ok() || !has_code || !has_description) return std::nullopt;
  return reply;
}

}  // namespace

std::optional<CodeReply> FindCodeReply(std::string_view reply) {
  if (reply.find("\"code\"") == std::string_view::npos) return std::nullopt;
  std::optional<CodeReply> found;
  // Each failed attempt may read to the end; the budget keeps hostile text from making that quadratic.
  size_t budget = 8 * reply.size() + 65536;
  for (size_t at = reply.find('{'); at != std::string_view::npos;) {
    size_t consumed = 0;
    size_t looked_at = 0;
    std::optional<CodeReply> here = ReadCodeReply(reply.substr(at), consumed, looked_at);
    if (here.has_value()) found = std::move(here);
    if (looked_at > budget) return std::nullopt;
    budget -= looked_at;
    // A well-formed object is skipped whole: what is inside its strings is content, not another reply.
    at = reply.find('{', at + (consumed > 0 ? consumed : 1));
  }
  return found;
}

std::string FormatCodeReply(const CodeReply& reply) {
  std::string text;
  text.reserve(reply.code.size() + reply.description.size() + 12);
  text += reply.code;
  text += "\n\n\n'''\n";
  text += reply.description;
  text += "\n'''";
  return text;
}

}  // namespace kerf::trace
