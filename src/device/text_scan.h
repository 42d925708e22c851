// Small steps of reading what tools and the kernel print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::device {

std::string_view Trim(std::string_view text);
// Parts between `separator`, not trimmed, empty ones included.
std::vector<std::string_view> Split(std::string_view text, char separator);
// Words between blanks and tabs.
std::vector<std::string_view> Words(std::string_view text);
// All of `text` as a whole number ≥ 0.
std::optional<int64_t> Number(std::string_view text);
std::string Lower(std::string_view text);
// The beginning of a file below /proc or /sys, which says that it holds no bytes; empty when it
// cannot be read.
std::string ReadPseudoFile(const std::string& path);

}  // namespace kerf::device
