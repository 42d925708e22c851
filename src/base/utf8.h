// What kind of text a string of bytes is. kerf stores any bytes as they are; it only notes the
// kind.
#pragma once

#include <string>
#include <string_view>

namespace kerf {

enum class TextEncoding {
  kUtf8,   // valid UTF-8 (plain ASCII included)
  kWtf8,   // UTF-8 plus lone surrogates, as JSON's \ud800 gives them
  kBytes,  // anything else
};

TextEncoding DetectEncoding(std::string_view bytes);
// "utf-8", "wtf-8", "bytes": the words used in the journal.
const char* TextEncodingName(TextEncoding encoding);

// Appends `code_point` (up to 0x10FFFF, lone surrogates included) in one to four bytes.
void AppendUtf8(std::string& out, char32_t code_point);

// One character at the front of `text`: its value and how many bytes it takes. A byte that begins
// no valid character gives its own value, length 1 and valid = false. Lone surrogates are valid
// here; callers that mind look at the value.
struct Utf8Char {
  char32_t value = 0;
  size_t length = 1;
  bool valid = false;
};
Utf8Char DecodeUtf8(std::string_view text);

}  // namespace kerf
