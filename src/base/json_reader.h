// A pull reader for one JSON text that keeps strings byte-exact.
//
// Document libraries refuse invalid UTF-8 and lone surrogates; a trace must store what a model
// really sent. Raw bytes in a string come out as they went in, and a lone \ud800 comes out as the
// three bytes WTF-8 gives it. It is also the fast path for journals and appended records
// (docs/decisions/0003-json.md).
//
//   JsonReader reader(line);
//   std::string key, value;
//   for (reader.BeginObject(); reader.NextKey(key);) {
//     if (key == "op_name") reader.ReadString(value); else reader.Skip();
//   }
//   if (!reader.Finish()) return InvalidInput(reader.error());
//
// After the first error every call returns false and error() tells what and where.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"

namespace kerf {

enum class JsonType { kNull, kBool, kNumber, kString, kArray, kObject, kEnd };

class JsonReader {
 public:
  struct Options {
    // Models put raw newlines and tabs into JSON strings; the standard forbids them.
    bool allow_control_characters = false;
    int max_depth = 128;
  };

  explicit JsonReader(std::string_view text) : JsonReader(text, Options{}) {}
  JsonReader(std::string_view text, Options options) : text_(text), options_(options) {}
  // Over a text that may be overwritten: ReadInPlace() can be used.
  explicit JsonReader(std::span<char> text)
      : text_(text.data(), text.size()), writable_(text.data()) {}

  // What comes next; kEnd at the end of the text or when the next byte begins no value.
  JsonType Peek();

  bool BeginObject();
  // Moves to the next member and reads its name; false at the end of the object.
  bool NextKey(std::string& key);
  bool BeginArray();
  // Moves to the next element; false at the end of the array.
  bool NextElement();

  bool ReadString(std::string& out);
  // A string without a copy: what it stands for is left where its literal was.
  bool ReadInPlace(Text& out);
  bool ReadInt(int64_t& out);
  bool ReadDouble(double& out);
  bool ReadBool(bool& out);
  bool ReadNull();
  bool Skip();
  // Skips a value and gives its bytes.
  bool ReadRaw(std::string_view& out);

  // True when everything was well-formed and only white space is left.
  bool Finish();

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] size_t offset() const { return position_; }

 private:
  bool Fail(const char* what);
  void SkipSpace();
  bool Take(char c);
  bool TakeWord(std::string_view word);
  bool Enter();
  bool BeginItem();
  // Scans one string; decodes into *out unless out is null.
  bool ScanString(std::string* out);
  // From inside a string to its end. `likely_more`: escapes were seen.
  bool ScanRest(std::string* out, bool likely_more);
  bool ScanEscape(std::string* out);
  bool ScanUnicode(std::string* out);
  bool ScanHex4(char32_t& value);
  bool ScanNumber(std::string_view& digits);

  std::string_view text_;
  char* writable_ = nullptr;  // text_, when it may be overwritten
  Options options_;
  size_t position_ = 0;
  int depth_ = 0;
  bool first_item_ = false;  // directly after '{' or '['
  std::string error_;
};

// Appends `text` as a JSON string with its quotes. Lone surrogates become \ud800 escapes; bytes
// that are no UTF-8 become U+FFFD, because JSON cannot hold them.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace kerf
