// The common part of reading JSON strings: long texts with plain escapes, at the speed of copying.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kerf {

// What the letter behind a backslash stands for; 0 for 'u' and for letters that JSON does not know.
inline constexpr std::array<char, 256> kPlainJsonEscapes = [] {
  std::array<char, 256> table{};
  table['n'] = '\n';
  table['t'] = '\t';
  table['r'] = '\r';
  table['b'] = '\b';
  table['f'] = '\f';
  table['"'] = '"';
  table['\\'] = '\\';
  table['/'] = '/';
  return table;
}();
inline char PlainJsonEscape(char letter) {
  return kPlainJsonEscapes[static_cast<unsigned char>(letter)];
}

// Appends to `out` what the front of `text` stands for and returns how many bytes that were. Stops
// at quotes and at all that needs more than a glance: \u, control characters, unknown escapes, the
// last few bytes. What it stopped at, and what is left, is the caller's.
size_t UnescapeJson(std::string_view text, std::string& out);

struct UnescapedInPlace {
  size_t taken = 0;    // bytes of the text
  size_t written = 0;  // what they stand for, at its front
  bool ascii = true;   // all of that; may be false for nothing
};

// The widest instructions that may be used; for tests of the others.
enum class UnescapeWidth { kNone, k256, k512 };
// Whether this processor has them.
bool HasUnescapeWidth(UnescapeWidth width);

// The same without a copy: what the front of `text` stands for, which is never longer, replaces it.
// What is behind the bytes that were taken stays as it was. Takes nothing on processors that have
// neither AVX2 nor AVX-512's byte instructions.
UnescapedInPlace UnescapeJsonInPlace(char* text, size_t size,
                                     UnescapeWidth widest = UnescapeWidth::k512);

}  // namespace kerf
