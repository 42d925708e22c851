// White space around texts of models and servers.
#pragma once

#include <cctype>
#include <string_view>

namespace kerf::llm {

inline bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

inline std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  return text;
}

inline std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

inline std::string_view Trim(std::string_view text) { return TrimRight(TrimLeft(text)); }

}  // namespace kerf::llm
