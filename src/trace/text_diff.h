// What changed between two texts, line by line, and how to show it.
//
//   const TextDiff diff = DiffLines(old_text, new_text);
//   WriteUnified(diff, /*context=*/3, [&](DiffLine kind, const std::string& line) { … });
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/sequence_diff.h"

namespace kerf::trace {

// Views into the two texts, which must outlive it. A line includes its line feed; the last one may
// lack it.
struct TextDiff {
  std::vector<std::string_view> a;
  std::vector<std::string_view> b;
  std::vector<Change> changes;

  [[nodiscard]] size_t removed() const;
  [[nodiscard]] size_t added() const;
};

TextDiff DiffLines(std::string_view a, std::string_view b);

enum class DiffLine { kHunk, kContext, kRemoved, kAdded, kNote };

// The lines of a unified diff, without the two that name the files. `line` has its mark in front
// ("-", "+", " ", "@@ …", "\ …") and no line feed.
void WriteUnified(const TextDiff& diff, size_t context,
                  const std::function<void(DiffLine kind, const std::string& line)>& each);

}  // namespace kerf::trace
