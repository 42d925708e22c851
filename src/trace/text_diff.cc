#include "trace/text_diff.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::trace {
namespace {

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// "12,3", "12" for one line, and the line before for none, as patch(1) expects it.
std::string RangeText(size_t begin, size_t count) {
  if (count == 1) return std::to_string(begin + 1);
  return std::to_string(count == 0 ? begin : begin + 1) + "," + std::to_string(count);
}

class UnifiedWriter {
 public:
  UnifiedWriter(const TextDiff& diff, size_t context,
                const std::function<void(DiffLine, const std::string&)>& each)
      : diff_(diff), context_(context), each_(each) {}

  void Run() {
    for (size_t first = 0; first < diff_.changes.size();) {
      size_t last = first;
      while (last + 1 < diff_.changes.size() &&
             diff_.changes[last + 1].a_begin - diff_.changes[last].a_end <= 2 * context_) {
        ++last;
      }
      WriteHunk(first, last);
      first = last + 1;
    }
  }

 private:
  void WriteHunk(size_t first, size_t last) {
    const Change& head = diff_.changes[first];
    const Change& tail = diff_.changes[last];
    const size_t before = std::min(context_, head.a_begin);
    const size_t after = std::min(context_, diff_.a.size() - tail.a_end);
    const size_t a_begin = head.a_begin - before;
    const size_t b_begin = head.b_begin - before;
    each_(DiffLine::kHunk, "@@ -" + RangeText(a_begin, tail.a_end + after - a_begin) + " +" +
                               RangeText(b_begin, tail.b_end + after - b_begin) + " @@");
    size_t at = a_begin;
    for (size_t i = first; i <= last; ++i) {
      const Change& change = diff_.changes[i];
      WriteLines(DiffLine::kContext, ' ', diff_.a, at, change.a_begin);
      WriteLines(DiffLine::kRemoved, '-', diff_.a, change.a_begin, change.a_end);
      WriteLines(DiffLine::kAdded, '+', diff_.b, change.b_begin, change.b_end);
      at = change.a_end;
    }
    WriteLines(DiffLine::kContext, ' ', diff_.a, at, at + after);
  }

  void WriteLines(DiffLine kind, char mark, const std::vector<std::string_view>& lines,
                  size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      std::string_view line = lines[i];
      const bool whole = line.ends_with('\n');
      if (whole) line.remove_suffix(1);
      each_(kind, mark + std::string(line));
      if (!whole) each_(DiffLine::kNote, "\\ No newline at end of file");
    }
  }

  const TextDiff& diff_;
  const size_t context_;
  const std::function<void(DiffLine, const std::string&)>& each_;
};

}  // namespace

size_t TextDiff::removed() const {
  size_t lines = 0;
  for (const Change& change : changes) lines += change.a_end - change.a_begin;
  return lines;
}

size_t TextDiff::added() const {
  size_t lines = 0;
  for (const Change& change : changes) lines += change.b_end - change.b_begin;
  return lines;
}

TextDiff DiffLines(std::string_view a, std::string_view b) {
  TextDiff diff{SplitLines(a), SplitLines(b), {}};
  std::unordered_map<std::string_view, uint32_t> numbers;
  const auto number = [&](const std::vector<std::string_view>& lines) {
    std::vector<uint32_t> sequence;
    sequence.reserve(lines.size());
    for (const std::string_view line : lines) {
      sequence.push_back(numbers.emplace(line, numbers.size()).first->second);
    }
    return sequence;
  };
  const std::vector<uint32_t> sequence_a = number(diff.a);
  const std::vector<uint32_t> sequence_b = number(diff.b);
  diff.changes = DiffSequences(sequence_a, sequence_b);
  return diff;
}

void WriteUnified(const TextDiff& diff, size_t context,
                  const std::function<void(DiffLine, const std::string&)>& each) {
  UnifiedWriter(diff, context, each).Run();
}

}  // namespace kerf::trace
