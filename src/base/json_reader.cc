#include "base/json_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/check.h"
#include "base/json_unescape.h"
#include "base/utf8.h"

namespace kerf {
namespace {

// True for the bytes at which a run of plain string content ends.
bool EndsRun(unsigned char c) { return c == '"' || c == '\\' || c < 0x20; }

#if defined(__SSE2__)
// Position of the first byte that ends a run in full blocks of 16; the size of those blocks when
// there is none.
size_t PlainBlocks(std::string_view text) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(0x1F);
  size_t i = 0;
  for (; i + 16 <= text.size(); i += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    // Unsigned "≤ 0x1F": the smaller of the byte and 0x1F is the byte itself.
    const __m128i hit =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, slash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(block, space), block));
    const int mask = _mm_movemask_epi8(hit);
    if (mask != 0) return i + static_cast<size_t>(std::countr_zero(static_cast<unsigned>(mask)));
  }
  return i;
}
#else
// Eight bytes at a time: the classic test for "some byte below 0x20, or equal to a given one".
// Stops at the block that holds the first hit.
size_t PlainBlocks(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101ULL;
  constexpr uint64_t kHighs = 0x8080808080808080ULL;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    const uint64_t quote = word ^ (kOnes * '"');
    const uint64_t slash = word ^ (kOnes * '\\');
    const uint64_t hit =
        ((word - kOnes * 0x20) & ~word) | ((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash);
    if ((hit & kHighs) != 0) break;
  }
  return i;
}
#endif

// Length of the run of bytes at the front that a writer copies as they are: ASCII from the space to
// the tilde, without quote and backslash.
size_t AsciiRun(std::string_view text) {
  size_t i = 0;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i first = _mm_set1_epi8(0x1F);
  const __m128i last = _mm_set1_epi8(0x7F);
  for (; i + 16 <= text.size(); i += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    // Signed: bytes beyond ASCII are below all others.
    const __m128i plain = _mm_and_si128(_mm_cmpgt_epi8(block, first), _mm_cmplt_epi8(block, last));
    const __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, slash));
    const int mask = _mm_movemask_epi8(_mm_andnot_si128(special, plain));
    if (mask != 0xFFFF) {
      return i + static_cast<size_t>(std::countr_one(static_cast<unsigned>(mask)));
    }
  }
#endif
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  while (i < text.size() && is_plain(text[i])) ++i;
  return i;
}

// Length of the run of plain bytes at the front.
size_t PlainRun(std::string_view text) {
  size_t i = PlainBlocks(text);
  while (i < text.size() && !EndsRun(static_cast<unsigned char>(text[i]))) ++i;
  return i;
}

bool IsHigh(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool IsLow(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool JsonReader::Fail(const char* what) {
  if (error_.empty()) {
    error_ = std::string(what) + " at byte " + std::to_string(position_);
  }
  return false;
}

void JsonReader::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    ++position_;
  }
}

bool JsonReader::Take(char c) {
  if (position_ < text_.size() && text_[position_] == c) {
    ++position_;
    return true;
  }
  return false;
}

bool JsonReader::TakeWord(std::string_view word) {
  if (text_.substr(position_, word.size()) != word) return false;
  position_ += word.size();
  return true;
}

JsonType JsonReader::Peek() {
  if (!ok()) return JsonType::kEnd;
  SkipSpace();
  if (position_ >= text_.size()) return JsonType::kEnd;
  switch (text_[position_]) {
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
    default:
      return text_[position_] == '-' || IsDigit(text_[position_]) ? JsonType::kNumber
                                                                  : JsonType::kEnd;
  }
}

bool JsonReader::Enter() {
  if (++depth_ > options_.max_depth) return Fail("nested too deeply");
  first_item_ = true;
  return true;
}

bool JsonReader::BeginObject() {
  if (Peek() != JsonType::kObject) return Fail("expected an object");
  ++position_;
  return Enter();
}

bool JsonReader::BeginArray() {
  if (Peek() != JsonType::kArray) return Fail("expected an array");
  ++position_;
  return Enter();
}

bool JsonReader::BeginItem() {
  SkipSpace();
  if (!first_item_ && !Take(',')) return Fail("expected ',' or the end of the list");
  first_item_ = false;
  SkipSpace();
  return true;
}

bool JsonReader::NextKey(std::string& key) {
  if (!ok()) return false;
  SkipSpace();
  if (Take('}')) {
    --depth_;
    first_item_ = false;
    return false;
  }
  if (!BeginItem()) return false;
  if (Peek() != JsonType::kString) return Fail("expected a member name");
  key.clear();
  if (!ScanString(&key)) return false;
  SkipSpace();
  if (!Take(':')) return Fail("expected ':'");
  return true;
}

bool JsonReader::NextElement() {
  if (!ok()) return false;
  SkipSpace();
  if (Take(']')) {
    --depth_;
    first_item_ = false;
    return false;
  }
  return BeginItem();
}

bool JsonReader::ReadString(std::string& out) {
  if (Peek() != JsonType::kString) return Fail("expected a string");
  out.clear();
  return ScanString(&out);
}

bool JsonReader::ScanString(std::string* out) {
  ++position_;  // the opening quote
  return ScanRest(out, false);
}

bool JsonReader::ReadInPlace(Text& out) {
  KERF_CHECK(writable_ != nullptr, "the text of this reader is not to be changed");
  if (Peek() != JsonType::kString) return Fail("expected a string");
  ++position_;
  char* const begin = writable_ + position_;
  const UnescapedInPlace run = UnescapeJsonInPlace(begin, text_.size() - position_);
  position_ += run.taken;
  if (position_ < text_.size() && text_[position_] == '"') {
    ++position_;
    out = Text::Borrowed({begin, run.written}, run.ascii);
    return true;
  }
  std::string rest;
  if (!ScanRest(&rest, run.written < run.taken)) return false;
  std::copy(rest.begin(), rest.end(), begin + run.written);
  out = Text::Borrowed({begin, run.written + rest.size()}, false);
  return true;
}

bool JsonReader::ScanRest(std::string* out, bool likely_more) {
  for (;;) {
    // Most strings are short and have no escape; those that have one usually have many.
    if (likely_more && out != nullptr) position_ += UnescapeJson(text_.substr(position_), *out);
    const std::string_view rest = text_.substr(position_);
    const size_t run = PlainRun(rest);
    if (out != nullptr) out->append(rest.data(), run);
    position_ += run;
    if (position_ >= text_.size()) return Fail("unterminated string");
    const char c = text_[position_];
    if (c == '"') {
      ++position_;
      return true;
    }
    if (c == '\\') {
      ++position_;
      likely_more = position_ < text_.size() && text_[position_] != 'u';
      if (!ScanEscape(out)) return false;
      continue;
    }
    if (!options_.allow_control_characters) return Fail("raw control character in a string");
    if (out != nullptr) *out += c;
    ++position_;
  }
}

bool JsonReader::ScanEscape(std::string* out) {
  if (position_ >= text_.size()) return Fail("unterminated string");
  const char c = text_[position_++];
  if (c == 'u') return ScanUnicode(out);
  const char plain = PlainJsonEscape(c);
  if (plain == 0) return Fail("unknown escape in a string");
  if (out != nullptr) *out += plain;
  return true;
}

bool JsonReader::ScanHex4(char32_t& value) {
  const std::string_view digits = text_.substr(position_, 4);
  uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) {
    return Fail("\\u needs four hex digits");
  }
  value = number;
  position_ += 4;
  return true;
}

bool JsonReader::ScanUnicode(std::string* out) {
  char32_t value = 0;
  if (!ScanHex4(value)) return false;
  if (IsHigh(value) && text_.substr(position_, 2) == "\\u") {
    const size_t before_second = position_;
    position_ += 2;
    char32_t low = 0;
    if (!ScanHex4(low)) return false;
    if (IsLow(low)) {
      value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
    } else {
      position_ = before_second;  // a lone high surrogate; the next escape stands for itself
    }
  }
  if (out != nullptr) AppendUtf8(*out, value);
  return true;
}

bool JsonReader::ScanNumber(std::string_view& digits) {
  if (Peek() != JsonType::kNumber) return Fail("expected a number");
  const size_t begin = position_;
  const auto take_digits = [&] {
    const size_t first = position_;
    while (position_ < text_.size() && IsDigit(text_[position_])) ++position_;
    return position_ > first;
  };
  Take('-');
  if (Take('0')) {
    if (position_ < text_.size() && IsDigit(text_[position_])) return Fail("number begins with 0");
  } else if (!take_digits()) {
    return Fail("bad number");
  }
  if (Take('.') && !take_digits()) return Fail("bad number");
  if (Take('e') || Take('E')) {
    if (!Take('+')) Take('-');
    if (!take_digits()) return Fail("bad number");
  }
  digits = text_.substr(begin, position_ - begin);
  return true;
}

bool JsonReader::ReadInt(int64_t& out) {
  std::string_view digits;
  if (!ScanNumber(digits)) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Fail("expected a whole number");
  }
  return true;
}

bool JsonReader::ReadDouble(double& out) {
  std::string_view digits;
  if (!ScanNumber(digits)) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error == std::errc::result_out_of_range) {
    // from_chars says the same for 1e400 and 1e-400; only the first has no nearest double.
    out = std::strtod(std::string(digits).c_str(), nullptr);
    if (std::isinf(out)) return Fail("number out of range");
    return true;
  }
  if (error != std::errc()) return Fail("bad number");
  return true;
}

bool JsonReader::ReadBool(bool& out) {
  if (Peek() != JsonType::kBool) return Fail("expected true or false");
  out = TakeWord("true");
  if (!out && !TakeWord("false")) return Fail("unknown word");
  return true;
}

bool JsonReader::ReadNull() {
  if (Peek() != JsonType::kNull || !TakeWord("null")) return Fail("expected null");
  return true;
}

bool JsonReader::Skip() {
  // Iterative over depth: `levels` remembers which bracket closes each open level.
  std::string levels;
  std::string key;
  const int base_depth = depth_;
  do {
    switch (Peek()) {
      case JsonType::kObject:
        if (!BeginObject()) return false;
        levels += '}';
        break;
      case JsonType::kArray:
        if (!BeginArray()) return false;
        levels += ']';
        break;
      case JsonType::kString:
        if (!ScanString(nullptr)) return false;
        break;
      case JsonType::kNumber: {
        std::string_view digits;
        if (!ScanNumber(digits)) return false;
        break;
      }
      case JsonType::kBool: {
        bool value = false;
        if (!ReadBool(value)) return false;
        break;
      }
      case JsonType::kNull:
        if (!ReadNull()) return false;
        break;
      case JsonType::kEnd:
        return Fail("expected a value");
    }
    while (!levels.empty()) {
      if (levels.back() == '}' ? NextKey(key) : NextElement()) break;
      if (!ok()) return false;
      levels.pop_back();
    }
  } while (depth_ > base_depth);
  return ok();
}

bool JsonReader::ReadRaw(std::string_view& out) {
  SkipSpace();
  const size_t begin = position_;
  if (!Skip()) return false;
  out = text_.substr(begin, position_ - begin);
  return true;
}

bool JsonReader::Finish() {
  if (!ok()) return false;
  SkipSpace();
  if (depth_ != 0) return Fail("an object or array is not closed");
  if (position_ != text_.size()) return Fail("text after the end of the value");
  return true;
}

void AppendJsonString(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto append_unicode = [&](char32_t c) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(c >> shift) & 15];
  };
  out.reserve(out.size() + text.size() + 2);
  out += '"';
  size_t i = 0;
  while (i < text.size()) {
    // Most of any text goes over in runs.
    const size_t run = AsciiRun(text.substr(i));
    out.append(text, i, run);
    i += run;
    if (i == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      const Utf8Char c = DecodeUtf8(text.substr(i));
      if (!c.valid) {
        out += "\xEF\xBF\xBD";
      } else if (IsHigh(c.value) || IsLow(c.value)) {
        append_unicode(c.value);
      } else {
        out.append(text, i, c.length);
      }
      i += c.length;
      continue;
    }
    ++i;
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          append_unicode(byte);
        } else {
          out += static_cast<char>(byte);
        }
    }
  }
  out += '"';
}

}  // namespace kerf
