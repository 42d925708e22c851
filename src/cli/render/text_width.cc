#include "cli/render/text_width.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace kerf::cli {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Unicode 15: the blocks of general category Mn/Me/Cf that occur in running text, not every last
// character.
constexpr CodeRange kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD},   {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x06D6, 0x06DC}, {0x093C, 0x093C},   {0x0941, 0x0948},   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF},   {0x200B, 0x200F}, {0x2060, 0x2064},
    {0x20D0, 0x20FF}, {0x302A, 0x302D},   {0x3099, 0x309A},   {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF},
};

// East_Asian_Width W and F, by block, and the emoji that terminals draw wide.
constexpr CodeRange kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26A1, 0x26A1},   {0x26D4, 0x26D4},
    {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},
    {0x2B50, 0x2B50},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F64F}, {0x1F680, 0x1F6FC}, {0x1F7E0, 0x1F7EB},
    {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

// Characters that are no control bytes and still change what a reader sees: bidirectional overrides
// and isolates, line and paragraph separators.
constexpr CodeRange kDeceptive[] = {
    {0x061C, 0x061C}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};

template <size_t N>
bool In(const CodeRange (&ranges)[N], char32_t c) {
  const auto* range =
      std::upper_bound(std::begin(ranges), std::end(ranges), c,
                       [](char32_t value, const CodeRange& r) { return value < r.first; });
  return range != std::begin(ranges) && c <= std::prev(range)->last;
}

size_t WidthOf(char32_t c) {
  if (c < 0x300) return 1;
  if (In(kZeroWidth, c)) return 0;
  return In(kWide, c) ? 2 : 1;
}

bool IsHarmful(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
  return control || surrogate || In(kDeceptive, c);
}

void AppendEscape(std::string& out, char32_t c, bool byte) {
  constexpr char kHex[] = "0123456789abcdef";
  if (c == '\n' || c == '\r' || c == '\t') {
    out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    return;
  }
  if (byte) {
    out += "\\x";
    out += kHex[(c >> 4) & 15];
    out += kHex[c & 15];
    return;
  }
  out += "\\u{";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(c >> shift) & 15];
  out += '}';
}

// The common case, which long tables are made of.
bool IsPlainAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  if (IsPlainAscii(text)) return text.size();
  size_t width = 0;
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    width += c.valid ? WidthOf(c.value) : 1;
    text.remove_prefix(c.length);
  }
  return width;
}

std::string Shortened(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t width = 1;  // the ellipsis
  size_t end = 0;
  while (end < text.size()) {
    const Utf8Char c = DecodeUtf8(text.substr(end));
    const size_t next = c.valid ? WidthOf(c.value) : 1;
    if (width + next > columns) break;
    width += next;
    end += c.length;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string Printable(std::string_view text, Newlines newlines) {
  if (IsPlainAscii(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    const bool kept = newlines == Newlines::kKeep && (c.value == '\n' || c.value == '\t');
    if (c.valid && (kept || !IsHarmful(c.value))) {
      out.append(text, 0, c.length);
    } else {
      AppendEscape(out, c.value, !c.valid || c.value < 0x80);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace kerf::cli
