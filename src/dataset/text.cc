#include "dataset/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/json_unescape.h"
#include "base/utf8.h"

namespace kerf::dataset {
namespace {

bool IsHigh(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool IsLow(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

// The four hex digits at `at`; nullopt when they are none.
std::optional<char32_t> Hex4(std::string_view raw, size_t at) {
  if (at + 4 > raw.size()) return std::nullopt;
  uint32_t value = 0;
  const char* end = raw.data() + at + 4;
  const auto [stop, error] = std::from_chars(raw.data() + at, end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Decodes \uXXXX, or two of them, at the backslash; moves behind it.
void DecodeUnicode(std::string_view raw, size_t& at, std::string& out, TextNotes& notes) {
  const std::optional<char32_t> first = Hex4(raw, at + 2);
  if (!first.has_value()) {
    ++notes.unknown_escapes;
    out.append("\\u");
    at += 2;
    return;
  }
  at += 6;
  char32_t value = *first;
  if (IsHigh(value) && raw.substr(at, 2) == "\\u") {
    const std::optional<char32_t> low = Hex4(raw, at + 2);
    if (low.has_value() && IsLow(*low)) {
      value = 0x10000 + ((value - 0xD800) << 10) + (*low - 0xDC00);
      at += 6;
    }
  }
  if (IsHigh(value) || IsLow(value)) {
    ++notes.lone_surrogates;
    value = 0xFFFD;
  }
  AppendUtf8(out, value);
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

uint64_t CountBadBytes(std::string_view text) {
  uint64_t bad = 0;
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word = 0;
    while (at + 8 <= text.size()) {
      std::memcpy(&word, text.data() + at, 8);
      if ((word & 0x8080'8080'8080'8080ULL) != 0) break;
      at += 8;
    }
    if (at >= text.size()) break;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Utf8Char c = DecodeUtf8(text.substr(at));
    if (!c.valid || IsHigh(c.value) || IsLow(c.value)) ++bad;
    at += c.length;
  }
  return bad;
}

// Whether there is only one such spelling of the text: no \u, \/ or unknown escape, and nothing raw
// that is usually escaped.
bool IsUsual(std::string_view raw) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  unsigned controls = 0;
  for (const char c : raw) controls += is_control(c) ? 1U : 0U;
  if (controls > 0) return false;
  for (size_t at = raw.find('\\'); at != std::string_view::npos; at = raw.find('\\', at + 2)) {
    if (at + 1 >= raw.size() || raw[at + 1] == '/' || PlainJsonEscape(raw[at + 1]) == 0)
      return false;
  }
  return true;
}

// Whether both begin alike and then have different plain characters, with no escape anywhere near:
// the texts are different, however the rest is spelled.
bool PartPlainly(std::string_view raw_a, std::string_view raw_b) {
  constexpr size_t kLongestEscape = 12;  // two \uXXXX
  const auto [a, b] = std::mismatch(raw_a.begin(), raw_a.end(), raw_b.begin(), raw_b.end());
  const auto at = static_cast<size_t>(a - raw_a.begin());
  if (a == raw_a.end() || b == raw_b.end() || at < kLongestEscape) return false;
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; };
  return is_plain(*a) && is_plain(*b) &&
         raw_a.substr(at - kLongestEscape, kLongestEscape).find('\\') == std::string_view::npos;
}

}  // namespace

TextNotes DecodeText(std::string_view raw, std::string& out) {
  TextNotes notes;
  notes.bad_bytes = CountBadBytes(raw);
  out.reserve(out.size() + raw.size());
  size_t at = 0;
  while (at < raw.size()) {
    at += UnescapeJson(raw.substr(at), out);
    const void* slash = std::memchr(raw.data() + at, '\\', raw.size() - at);
    const size_t end = slash == nullptr
                           ? raw.size()
                           : static_cast<size_t>(static_cast<const char*>(slash) - raw.data());
    out.append(raw, at, end - at);
    at = end;
    if (at >= raw.size()) break;
    const char letter = at + 1 < raw.size() ? raw[at + 1] : '\0';
    if (letter == 'u') {
      DecodeUnicode(raw, at, out, notes);
    } else if (const char plain = PlainJsonEscape(letter); plain != 0) {
      out += plain;
      at += 2;
    } else {
      ++notes.unknown_escapes;
      out += '\\';
      ++at;
    }
  }
  return notes;
}

std::string Decoded(std::string_view raw) {
  std::string text;
  DecodeText(raw, text);
  return text;
}

bool SameText(std::string_view raw_a, std::string_view raw_b) {
  if (raw_a == raw_b) return true;
  // Different spellings of one text are possible ("\u00e9" and "é"), but one of them is then not
  // the usual one.
  if (PartPlainly(raw_a, raw_b) || (IsUsual(raw_a) && IsUsual(raw_b))) return false;
  return Decoded(raw_a) == Decoded(raw_b);
}

bool HasContent(std::string_view raw) {
  for (size_t at = 0; at < raw.size(); ++at) {
    if (IsSpace(raw[at])) continue;
    if (raw[at] != '\\' || at + 1 >= raw.size()) return true;
    const char letter = raw[at + 1];
    if (letter != 'n' && letter != 't' && letter != 'r' && letter != 'f') return true;
    ++at;
  }
  return false;
}

bool HasContentOrNone(std::string_view raw) { return raw != "None" && HasContent(raw); }

std::optional<double> NumberOf(const RawValue& value) {
  if (value.kind != RawValue::Kind::kNumber) return std::nullopt;
  double number = 0;
  const char* end = value.raw.data() + value.raw.size();
  const auto [stop, error] = std::from_chars(value.raw.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace kerf::dataset
