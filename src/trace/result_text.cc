#include "trace/result_text.h"

#include "base/utf8.h"

namespace kerf::trace {
namespace {

constexpr std::string_view kOpenDescription = "\n\n\n'''\n";
constexpr std::string_view kCloseDescription = "\n'''";

enum class Escapes { kPlain, kAscii, kRaw };

constexpr struct {
  Escapes escapes;
  std::string_view word;
} kForms[] = {{Escapes::kPlain, "plain"}, {Escapes::kAscii, "ascii"}, {Escapes::kRaw, "raw"}};

void AppendUnit(std::string& out, char32_t unit) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

void AppendNonAscii(std::string& out, std::string_view bytes, char32_t c, Escapes escapes) {
  const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
  if (escapes != Escapes::kAscii && !surrogate) {
    out += bytes;
  } else if (c >= 0x10000) {
    AppendUnit(out, 0xD800 + ((c - 0x10000) >> 10));
    AppendUnit(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
  } else {
    AppendUnit(out, c);
  }
}

// `text` as a JSON string literal, in one of the ways in which models write them.
std::string Literal(std::string_view text, Escapes escapes) {
  std::string out = "\"";
  out.reserve(text.size() + text.size() / 16 + 2);
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = DecodeUtf8(text.substr(i));
    const std::string_view bytes = text.substr(i, c.length);
    i += c.length;
    const bool space = c.value == '\n' || c.value == '\t' || c.value == '\r';
    if (c.value >= 0x80) {
      AppendNonAscii(out, bytes, c.value, escapes);
    } else if (c.value == '"' || c.value == '\\') {
      out += '\\';
      out += bytes;
    } else if (c.value >= 0x20 || (escapes == Escapes::kRaw && space)) {
      out += bytes;
    } else if (space || c.value == '\b' || c.value == '\f') {
      out += '\\';
      out += c.value == '\n'   ? 'n'
             : c.value == '\t' ? 't'
             : c.value == '\r' ? 'r'
             : c.value == '\b' ? 'b'
                               : 'f';
    } else {
      AppendUnit(out, c.value);
    }
  }
  return out + "\"";
}

// The word of the form that gives exactly `literal`, or the literal itself.
std::string FormOf(std::string_view text, std::string_view literal) {
  for (const auto& form : kForms) {
    if (Literal(text, form.escapes) == literal) return std::string(form.word);
  }
  return std::string(literal);
}

std::string FromForm(std::string_view text, const std::string& form) {
  for (const auto& known : kForms) {
    if (form == known.word) return Literal(text, known.escapes);
  }
  return form;
}

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

struct FoundObject {
  std::string code;
  std::string description;
  Span code_span;  // of the literals, from the start of the reply
  Span description_span;
};

struct Attempt {
  size_t looked_at = 0;
  size_t length = 0;  // of the object, 0 when it is not well-formed
  std::optional<FoundObject> found;
};

// Reads the object that begins at `at`.
Attempt ReadObject(std::string_view reply, size_t at) {
  JsonReader reader(reply.substr(at), {.allow_control_characters = true, .max_depth = 64});
  FoundObject object;
  bool has_code = false;
  bool has_description = false;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    const bool is_string = reader.Peek() == JsonType::kString;
    const size_t begin = at + reader.offset();
    if (key == "code" && is_string) {
      has_code = reader.ReadString(object.code);
      object.code_span = {begin, at + reader.offset()};
    } else if (key == "description" && is_string) {
      has_description = reader.ReadString(object.description);
      object.description_span = {begin, at + reader.offset()};
    } else {
      reader.Skip();
    }
  }
  Attempt attempt;
  attempt.looked_at = reader.offset();
  if (!reader.ok()) return attempt;
  attempt.length = reader.offset();
  if (has_code && has_description) attempt.found = std::move(object);
  return attempt;
}

ReplyFrame MakeFrame(std::string_view reply, const FoundObject& object) {
  ReplyFrame frame;
  frame.description_first = object.description_span.begin < object.code_span.begin;
  const Span& first = frame.description_first ? object.description_span : object.code_span;
  const Span& second = frame.description_first ? object.code_span : object.description_span;
  const auto text = [&](size_t begin, size_t end) { return reply.substr(begin, end - begin); };
  frame.before = text(0, first.begin);
  frame.between = text(first.end, second.begin);
  frame.after = text(second.end, reply.size());
  frame.code_bytes = object.code.size();
  frame.code_form = FormOf(object.code, text(object.code_span.begin, object.code_span.end));
  frame.description_form =
      FormOf(object.description, text(object.description_span.begin, object.description_span.end));
  return frame;
}

}  // namespace

std::optional<CodeReply> FindCodeReply(std::string_view reply) {
  // The first look is much the quicker one.
  if (reply.find('{') == std::string_view::npos ||
      reply.find("\"code\"") == std::string_view::npos) {
    return std::nullopt;
  }
  // The frame goes into JSON, which cannot hold other bytes.
  if (DetectEncoding(reply) == TextEncoding::kBytes) return std::nullopt;
  std::optional<FoundObject> found;
  // Each failed attempt may read to the end; the budget keeps hostile text from making that
  // quadratic.
  size_t budget = 8 * reply.size() + 65536;
  for (size_t at = reply.find('{'); at != std::string_view::npos;) {
    Attempt attempt = ReadObject(reply, at);
    if (attempt.found.has_value()) found = std::move(attempt.found);
    if (attempt.looked_at > budget) return std::nullopt;
    budget -= attempt.looked_at;
    // A well-formed object is skipped whole: what is inside its strings is content, not another
    // reply.
    at = reply.find('{', at + (attempt.length > 0 ? attempt.length : 1));
  }
  if (!found.has_value()) return std::nullopt;
  CodeReply result;
  result.frame = MakeFrame(reply, *found);
  result.code = std::move(found->code);
  result.description = std::move(found->description);
  return result;
}

std::string FormatCodeReply(const CodeReply& reply) {
  std::string text;
  text.reserve(reply.code.size() + reply.description.size() + 16);
  text += reply.code;
  text += kOpenDescription;
  text += reply.description;
  text += kCloseDescription;
  return text;
}

Result<std::string> RebuildReply(const ReplyFrame& frame, std::string_view result) {
  constexpr size_t kMarks = kOpenDescription.size() + kCloseDescription.size();
  if (result.size() < kMarks || result.size() - kMarks < frame.code_bytes ||
      result.substr(frame.code_bytes, kOpenDescription.size()) != kOpenDescription ||
      !result.ends_with(kCloseDescription)) {
    return Corrupt("the result file does not have the code and description its journal line tells");
  }
  const std::string_view code = result.substr(0, frame.code_bytes);
  std::string_view description = result.substr(frame.code_bytes + kOpenDescription.size());
  description.remove_suffix(kCloseDescription.size());
  const std::string code_literal = FromForm(code, frame.code_form);
  const std::string description_literal = FromForm(description, frame.description_form);
  return frame.before + (frame.description_first ? description_literal : code_literal) +
         frame.between + (frame.description_first ? code_literal : description_literal) +
         frame.after;
}

std::string EncodeReplyFrame(const ReplyFrame& frame) {
  std::string out = "{\"code_bytes\":" + std::to_string(frame.code_bytes);
  const auto add = [&](const char* key, std::string_view value) {
    out += ",\"";
    out += key;
    out += "\":";
    AppendJsonString(out, value);
  };
  add("first", frame.description_first ? "description" : "code");
  add("before", frame.before);
  add("between", frame.between);
  add("after", frame.after);
  add("code", frame.code_form);
  add("description", frame.description_form);
  return out + "}";
}

bool DecodeReplyFrame(JsonReader& reader, ReplyFrame& frame) {
  std::string key;
  std::string first;
  int64_t code_bytes = 0;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "code_bytes") {
      reader.ReadInt(code_bytes);
    } else if (key == "first") {
      reader.ReadString(first);
    } else if (key == "before") {
      reader.ReadString(frame.before);
    } else if (key == "between") {
      reader.ReadString(frame.between);
    } else if (key == "after") {
      reader.ReadString(frame.after);
    } else if (key == "code") {
      reader.ReadString(frame.code_form);
    } else if (key == "description") {
      reader.ReadString(frame.description_form);
    } else {
      reader.Skip();
    }
  }
  frame.description_first = first == "description";
  frame.code_bytes = static_cast<uint64_t>(code_bytes < 0 ? 0 : code_bytes);
  return reader.ok();
}

}  // namespace kerf::trace
