#include "dataset/folder_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/hash.h"
#include "base/utf8.h"

namespace kerf::dataset {
namespace {

constexpr size_t kMostBytes = 120;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// Control characters, separators, what other systems forbid, and what would turn the text around.
bool IsForbidden(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0xD800 && c < 0xE000)) return true;
  if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) return true;
  if (c == 0x2028 || c == 0x2029 || c == 0xFEFF) return true;
  return c < 0x80 &&
         std::string_view("/\\:*?\"<>|").find(static_cast<char>(c)) != std::string_view::npos;
}

std::string WithoutForbidden(std::string_view name) {
  std::string safe;
  for (size_t at = 0; at < name.size();) {
    const Utf8Char c = DecodeUtf8(name.substr(at));
    if (!c.valid || IsForbidden(c.value)) {
      safe += '_';
    } else {
      safe.append(name, at, c.length);
    }
    at += c.length;
  }
  return safe;
}

// Names that some systems take for a device, whatever stands behind their first dot; and our own.
bool IsReserved(std::string_view name) {
  const std::string lower = Lower(name);
  if (lower == "index.html") return true;
  const std::string stem = lower.substr(0, lower.find('.'));
  constexpr std::array<std::string_view, 4> kDevices = {"con", "prn", "aux", "nul"};
  if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) &&
         std::isdigit(static_cast<unsigned char>(stem[3])) != 0;
}

}  // namespace

std::string SafeFolderName(std::string_view name) {
  std::string_view stem = name;
  if (stem.ends_with(".py")) stem.remove_suffix(3);
  std::string safe = WithoutForbidden(stem);
  const auto is_edge = [](char c) { return c == '.' || c == ' '; };
  for (size_t i = 0; i < safe.size() && is_edge(safe[i]); ++i) safe[i] = '_';
  for (size_t i = safe.size(); i > 0 && is_edge(safe[i - 1]); --i) safe[i - 1] = '_';
  // A name that looks like an option would surprise whoever types `ls *`.
  if (safe.starts_with('-')) safe[0] = '_';
  if (safe.empty()) safe = "_";
  if (IsReserved(safe)) safe.insert(0, "_");
  if (safe.size() <= kMostBytes) return safe;
  size_t cut = kMostBytes - 9;
  while (cut > 0 && (static_cast<unsigned char>(safe[cut]) & 0xC0U) == 0x80U) --cut;
  return safe.substr(0, cut) + "~" + Hex64(Xxh3(name)).substr(0, 8);
}

std::string FolderNames::Next(std::string_view name) {
  const std::string safe = SafeFolderName(name);
  std::string folder = safe;
  for (int n = 2; !taken_.insert(Lower(folder)).second; ++n) {
    folder = safe + "~" + std::to_string(n);
  }
  return folder;
}

}  // namespace kerf::dataset
