// Decodes the raw text of a JSON string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataset/record_cursor.h"

namespace kerf::dataset {

// What was odd about a text.
struct TextNotes {
  uint64_t lone_surrogates = 0;  // became U+FFFD
  uint64_t unknown_escapes = 0;  // kept as they stand
  uint64_t bad_bytes = 0;        // no UTF-8; kept

  [[nodiscard]] bool odd() const { return lone_surrogates + unknown_escapes + bad_bytes > 0; }
};

// Appends what the string means. Never fails.
TextNotes DecodeText(std::string_view raw, std::string& out);
// Only what is wanted for a name or a message.
std::string Decoded(std::string_view raw);

// Whether two raw texts mean the same; they usually are the same.
bool SameText(std::string_view raw_a, std::string_view raw_b);

// Whether there is anything to see in it: not empty and not white space alone.
bool HasContent(std::string_view raw);
// HasContent, and not the four letters that str(None) gives.
bool HasContentOrNone(std::string_view raw);

// Of a number; nullopt for NaN, infinities and what is no number.
std::optional<double> NumberOf(const RawValue& value);

}  // namespace kerf::dataset
