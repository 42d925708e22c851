#include "base/json_writer.h"

#include <charconv>
#include <cmath>

#include "base/json_reader.h"
#include "base/utf8.h"

namespace kerf {
namespace {

// Lone surrogates in WTF-8 begin with ED A0 … ED BF; AppendJsonString would keep them as escapes.
std::string WithoutSurrogates(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    if (c.valid && c.value >= 0xD800 && c.value <= 0xDFFF) {
      clean += "\xEF\xBF\xBD";
    } else {
      clean.append(text, 0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return clean;
}

bool CopyValue(JsonReader& reader, JsonWriter& writer) {
  std::string text;
  switch (reader.Peek()) {
    case JsonType::kObject:
      writer.BeginObject();
      for (reader.BeginObject(); reader.NextKey(text);) {
        writer.Key(text);
        if (!CopyValue(reader, writer)) return false;
      }
      writer.EndObject();
      return reader.ok();
    case JsonType::kArray:
      writer.BeginArray();
      for (reader.BeginArray(); reader.NextElement();) {
        if (!CopyValue(reader, writer)) return false;
      }
      writer.EndArray();
      return reader.ok();
    case JsonType::kString:
      if (!reader.ReadString(text)) return false;
      writer.String(text);
      return true;
    default:
      break;
  }
  const bool is_number = reader.Peek() == JsonType::kNumber;
  std::string_view raw;
  if (!reader.ReadRaw(raw)) return false;
  double value = 0;
  // 1e999 is a number to the grammar and to nobody who reads it.
  if (is_number && (!JsonReader(raw).ReadDouble(value) || !std::isfinite(value))) {
    writer.Null();
  } else {
    writer.Raw(raw);
  }
  return true;
}

}  // namespace

void JsonWriter::BeginValue() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::BeginObject() {
  BeginValue();
  out_ += '{';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  out_ += '}';
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  BeginValue();
  out_ += '[';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  out_ += ']';
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  String(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  BeginValue();
  if (text.find('\xED') == std::string_view::npos) {
    AppendJsonString(out_, text);
  } else {
    AppendJsonString(out_, WithoutSurrogates(text));
  }
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) { return Raw(std::to_string(value)); }

JsonWriter& JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return Raw(error == std::errc() ? std::string_view(text, static_cast<size_t>(end - text))
                                  : std::string_view("null"));
}

JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(std::string_view json) {
  BeginValue();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::EndLine() {
  out_ += '\n';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Copy(std::string_view json) {
  std::string copy;
  JsonWriter writer(copy);
  JsonReader reader(json);
  return CopyValue(reader, writer) && reader.Finish() ? Raw(copy) : String(json);
}

}  // namespace kerf
