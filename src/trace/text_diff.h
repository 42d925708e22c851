// What changed between two texts, line by line, and how to show it.
//
//   const TextDiff diff = DiffLines(old_text, new_text);
//   WriteUnified(diff, /*context=*/3, [&](DiffLine kind, const std::string& line) { … });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

// The same for one text against many: what there is to know about `a` is found out once. `a` must
// outlive it, and both texts the diff. For one thread.
class LineDiffer {
 public:
  explicit LineDiffer(std::string_view a);
  ~LineDiffer();
  LineDiffer(const LineDiffer&) = delete;
  LineDiffer& operator=(const LineDiffer&) = delete;
  TextDiff Diff(std::string_view b);

 private:
  class Numbers;
  const std::vector<std::string_view> lines_;
  const std::unique_ptr<Numbers> numbers_;
  const std::vector<uint32_t> sequence_;
};

enum class DiffLine { kHunk, kContext, kRemoved, kAdded, kNote };

// The lines of a unified diff, without the two that name the files. `line` has its mark in front
// ("-", "+", " ", "@@ …", "\ …") and no line feed.
void WriteUnified(const TextDiff& diff, size_t context,
                  const std::function<void(DiffLine kind, const std::string& line)>& each);
// All of them, each with a line feed.
void AppendUnified(const TextDiff& diff, size_t context, std::string& out);

}  // namespace kerf::trace
