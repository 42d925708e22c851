#include "dataset/record_cursor.h"

#include "dataset/json_scan.h"

namespace kerf::dataset {
namespace {

constexpr int kMostDepth = 512;

bool IsNumberByte(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

bool IsWordByte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool RecordCursor::Fail(const char* what) {
  if (error_ == nullptr) error_ = what;
  return false;
}

bool RecordCursor::SkipSpace() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++lines_;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return true;
    }
  }
  return false;
}

bool RecordCursor::Take(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

JsonType RecordCursor::Peek() {
  if (!ok() || !SkipSpace()) return JsonType::kEnd;
  switch (text_[at_]) {
    case '{':
      return JsonType::kObject;
    case '[':
      return JsonType::kArray;
    case '"':
      return JsonType::kString;
    case 't':
    case 'f':
      return JsonType::kBool;
    case 'n':
      return JsonType::kNull;
    case 'N':  // NaN
    case 'I':  // Infinity
    case '-':
      return JsonType::kNumber;
    default:
      return text_[at_] >= '0' && text_[at_] <= '9' ? JsonType::kNumber : JsonType::kEnd;
  }
}

bool RecordCursor::Begin(char open, const char* otherwise) {
  if (!ok()) return false;
  SkipSpace();
  if (!Take(open)) return Fail(otherwise);
  first_ = true;
  return true;
}

bool RecordCursor::Next(char close) {
  if (!ok()) return false;
  if (!SkipSpace()) return Fail("the text ends within a list");
  if (Take(close)) {
    first_ = false;
    return false;
  }
  if (!first_ && !Take(',')) return Fail("expected ',' or the end of the list");
  first_ = false;
  if (!SkipSpace()) return Fail("the text ends within a list");
  return true;
}

bool RecordCursor::NextKey(std::string_view& key) {
  if (!Next('}')) return false;
  if (text_[at_] != '"') return Fail("expected a member name");
  const size_t begin = at_ + 1;
  if (!SkipString()) return false;
  key = text_.substr(begin, at_ - 1 - begin);
  SkipSpace();
  if (!Take(':')) return Fail("expected ':'");
  return true;
}

size_t RecordCursor::NextKeyAt() const {
  if (!ok()) return text_.size();
  RecordCursor ahead(text_, at_);
  ahead.SkipSpace();
  if (!first_ && ahead.Take(',')) ahead.SkipSpace();
  return ahead.offset();
}

bool RecordCursor::NextElement() { return Next(']'); }

bool RecordCursor::SkipString() {
  const size_t end = FindStringEnd(text_, at_ + 1);
  if (end == std::string_view::npos) return Fail("a string does not end");
  at_ = end + 1;
  return true;
}

bool RecordCursor::SkipWord() {
  const size_t begin = at_;
  while (at_ < text_.size() && IsNumberByte(text_[at_])) ++at_;
  const size_t word = at_;
  while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
  const std::string_view all = text_.substr(begin, at_ - begin);
  if (word == at_) return begin < at_ || Fail("expected a value");
  if (all == "true" || all == "false" || all == "null" || all == "NaN" || all == "Infinity" ||
      all == "-Infinity") {
    return true;
  }
  at_ = begin;
  return Fail("expected a value");
}

bool RecordCursor::SkipNested() {
  int depth = 0;
  for (; at_ < text_.size(); ++at_) {
    switch (text_[at_]) {
      case '"':
        if (!SkipString()) return false;
        --at_;
        break;
      case '{':
      case '[':
        if (++depth > kMostDepth) return Fail("nested too deeply");
        break;
      case '}':
      case ']':
        if (--depth == 0) {
          ++at_;
          return true;
        }
        break;
      case '\n':
        ++lines_;
        break;
      default:
        break;
    }
  }
  return Fail("the text ends within a list");
}

bool RecordCursor::Skip() {
  switch (Peek()) {
    case JsonType::kString:
      return SkipString();
    case JsonType::kObject:
    case JsonType::kArray:
      return SkipNested();
    case JsonType::kEnd:
      return Fail("expected a value");
    default:
      return SkipWord();
  }
}

RawValue RecordCursor::Read() {
  const JsonType type = Peek();
  const size_t begin = at_;
  if (!Skip()) return {};
  const std::string_view raw = text_.substr(begin, at_ - begin);
  switch (type) {
    case JsonType::kString:
      return {RawValue::Kind::kText, raw.substr(1, raw.size() - 2)};
    case JsonType::kNull:
      return {RawValue::Kind::kNull, raw};
    case JsonType::kBool:
      return {RawValue::Kind::kBool, raw};
    case JsonType::kNumber:
      return {RawValue::Kind::kNumber, raw};
    default:
      return {RawValue::Kind::kOther, raw};
  }
}

}  // namespace kerf::dataset
