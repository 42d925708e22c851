#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace kerf {
namespace {

bool IsSurrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

// Position of the first byte ≥ 0x80 at or after `i`; 64 bytes at a time, since most text is ASCII.
size_t SkipAscii(std::string_view bytes, size_t i) {
  // Where one such byte was, the next one usually follows.
  if (i < bytes.size() && static_cast<unsigned char>(bytes[i]) >= 0x80) return i;
  for (; i + 64 <= bytes.size(); i += 64) {
    uint64_t words[8];
    std::memcpy(words, bytes.data() + i, sizeof words);
    uint64_t all = 0;
    for (const uint64_t word : words) all |= word;
    if ((all & 0x8080808080808080ULL) != 0) break;
  }
  while (i < bytes.size() && static_cast<unsigned char>(bytes[i]) < 0x80) ++i;
  return i;
}

}  // namespace

Utf8Char DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {first, 1, false};
  char32_t value = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {first, 1, false};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF) return {first, 1, false};
  return {value, length, true};
}

TextEncoding DetectEncoding(std::string_view bytes) {
  TextEncoding encoding = TextEncoding::kUtf8;
  bool after_high_surrogate = false;
  for (size_t i = SkipAscii(bytes, 0); i < bytes.size(); i = SkipAscii(bytes, i)) {
    const Utf8Char c = DecodeUtf8(bytes.substr(i));
    if (!c.valid) return TextEncoding::kBytes;
    if (IsSurrogate(c.value)) {
      // A high surrogate directly before a low one would have been one character: that is CESU-8,
      // not WTF-8.
      const bool low = c.value >= 0xDC00;
      if (low && after_high_surrogate) return TextEncoding::kBytes;
      encoding = TextEncoding::kWtf8;
    }
    const bool ascii_follows =
        i + c.length < bytes.size() && static_cast<unsigned char>(bytes[i + c.length]) < 0x80;
    after_high_surrogate = c.value >= 0xD800 && c.value < 0xDC00 && !ascii_follows;
    i += c.length;
  }
  return encoding;
}

const char* TextEncodingName(TextEncoding encoding) {
  switch (encoding) {
    case TextEncoding::kUtf8:
      return "utf-8";
    case TextEncoding::kWtf8:
      return "wtf-8";
    case TextEncoding::kBytes:
      return "bytes";
  }
  return "bytes";
}

void AppendUtf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace kerf
