// What a piece of code is written in, told by words in its text.
#pragma once

#include <string_view>

namespace kerf::dataset {

enum class Language { kUnknown, kHip, kCuda, kCpp, kTriton, kPython };

const char* LanguageName(Language language);  // "hip", "cuda", "cpp", "triton", "python", "unknown"
// Works on the raw text of a JSON string as well: no word it looks for has an escape.
Language DetectLanguage(std::string_view code);

inline bool IsCpp(Language language) {
  return language == Language::kHip || language == Language::kCuda || language == Language::kCpp;
}
inline bool IsPython(Language language) {
  return language == Language::kTriton || language == Language::kPython;
}

}  // namespace kerf::dataset
