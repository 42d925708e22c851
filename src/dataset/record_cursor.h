// Walks JSON of outside origin without copying: strings come as views of their raw text and are
// decoded only when somebody wants them (text.h).
//
// Tolerant where real files need it: NaN and Infinity are numbers, raw control characters may stand
// in strings, bytes need not be UTF-8. What is inside a value that is skipped is only looked at as
// far as needed to find its end.
//
//   RecordCursor cursor(file, begin);
//   std::string_view key;
//   for (cursor.BeginObject(); cursor.NextKey(key);) {
//     if (key == "filename") name = cursor.Read(); else cursor.Skip();
//   }
//   if (!cursor.ok()) … cursor.error(), cursor.offset() …
//
// After the first error every call fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace kerf::dataset {

// A value as it stands in the file.
struct RawValue {
  enum class Kind { kMissing, kNull, kBool, kNumber, kText, kOther };
  Kind kind = Kind::kMissing;
  std::string_view raw;  // of a text what stands between its quotes

  [[nodiscard]] bool missing() const { return kind == Kind::kMissing || kind == Kind::kNull; }
  [[nodiscard]] bool text() const { return kind == Kind::kText; }
};

class RecordCursor {
 public:
  explicit RecordCursor(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  // What comes next; kEnd at the end or when the next byte begins no value.
  JsonType Peek();
  bool BeginObject() { return Begin('{', "expected an object"); }
  // False at the end of the object. The key is raw: names that matter have no escapes.
  bool NextKey(std::string_view& key);
  // Goes on within an object, at the name of a member.
  void ResumeObject() { first_ = true; }
  // Where the next name or the closing bracket stands; the end of the text after an error.
  [[nodiscard]] size_t NextKeyAt() const;
  bool BeginArray() { return Begin('[', "expected an array"); }
  bool NextElement();
  RawValue Read();
  bool Skip();
  // Moves over white space and counts its lines; false at the end of the text.
  bool SkipSpace();
  bool Take(char c);

  [[nodiscard]] bool ok() const { return error_ == nullptr; }
  [[nodiscard]] const char* error() const { return error_ == nullptr ? "" : error_; }
  [[nodiscard]] size_t offset() const { return at_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  // Line feeds seen between values so far.
  [[nodiscard]] uint64_t lines() const { return lines_; }

 private:
  bool Fail(const char* what);
  bool Begin(char open, const char* otherwise);
  bool Next(char close);
  bool SkipString();
  bool SkipNested();
  bool SkipWord();

  std::string_view text_;
  size_t at_ = 0;
  uint64_t lines_ = 0;
  bool first_ = false;  // directly behind '{' or '['
  const char* error_ = nullptr;
};

}  // namespace kerf::dataset
