#include "device/text_scan.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace kerf::device {

std::string_view Trim(std::string_view text) {
  const char* blanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find(separator, begin)) != std::string_view::npos;) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = text.find_first_not_of(" \t\r");
  while (begin != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(" \t\r", end);
  }
  return words;
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 ||
      text.front() == '-') {
    return std::nullopt;
  }
  return value;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string ReadPseudoFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(size_t{64} << 10, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(file.gcount() > 0 ? static_cast<size_t>(file.gcount()) : 0);
  return text;
}

}  // namespace kerf::device
