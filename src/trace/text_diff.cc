#include "trace/text_diff.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace kerf::trace {
namespace {

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  lines.reserve(text.size() / 24 + 1);
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
  // Called with the kind of a line, its mark, and the rest of it.
  using Sink = std::function<void(DiffLine, std::string_view, std::string_view)>;
  UnifiedWriter(const TextDiff& diff, size_t context, const Sink& each)
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
    each_(DiffLine::kHunk, "@@",
          " -" + RangeText(a_begin, tail.a_end + after - a_begin) + " +" +
              RangeText(b_begin, tail.b_end + after - b_begin) + " @@");
    size_t at = a_begin;
    for (size_t i = first; i <= last; ++i) {
      const Change& change = diff_.changes[i];
      WriteLines(DiffLine::kContext, " ", diff_.a, at, change.a_begin);
      WriteLines(DiffLine::kRemoved, "-", diff_.a, change.a_begin, change.a_end);
      WriteLines(DiffLine::kAdded, "+", diff_.b, change.b_begin, change.b_end);
      at = change.a_end;
    }
    WriteLines(DiffLine::kContext, " ", diff_.a, at, at + after);
  }

  void WriteLines(DiffLine kind, std::string_view mark, const std::vector<std::string_view>& lines,
                  size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      std::string_view line = lines[i];
      const bool whole = line.ends_with('\n');
      if (whole) line.remove_suffix(1);
      each_(kind, mark, line);
      if (!whole) each_(DiffLine::kNote, "\\", " No newline at end of file");
    }
  }

  const TextDiff& diff_;
  const size_t context_;
  const Sink& each_;
};

}  // namespace

// Lines are told apart by their hash first; places are tried one after the other until a free one.
class LineDiffer::Numbers {
 public:
  explicit Numbers(size_t lines) { Grow(lines); }

  std::vector<uint32_t> Of(const std::vector<std::string_view>& lines) {
    if (2 * (known_.size() + lines.size()) > places_.size()) Grow(known_.size() + lines.size());
    std::vector<uint32_t> sequence;
    sequence.reserve(lines.size());
    for (const std::string_view line : lines) sequence.push_back(Of(line));
    return sequence;
  }

  // The same, and the lines that were not known before are forgotten again: their text may go away.
  std::vector<uint32_t> OfGuests(const std::vector<std::string_view>& lines) {
    const size_t before = known_.size();
    std::vector<uint32_t> sequence = Of(lines);
    // The last ones first: each leaves the table as it was when it came.
    for (; known_.size() > before; known_.pop_back()) {
      size_t at = known_.back().hash & (places_.size() - 1);
      while (places_[at] != known_.size()) at = (at + 1) & (places_.size() - 1);
      places_[at] = 0;
    }
    return sequence;
  }

 private:
  struct Known {
    uint64_t hash;
    std::string_view line;
  };

  uint32_t Of(std::string_view line) {
    const uint64_t hash = Xxh3(line);
    for (size_t at = hash & (places_.size() - 1);; at = (at + 1) & (places_.size() - 1)) {
      uint32_t& place = places_[at];
      if (place == 0) {
        known_.push_back({hash, line});
        place = static_cast<uint32_t>(known_.size());
      }
      const Known& known = known_[place - 1];
      if (known.hash == hash && known.line == line) return place - 1;
    }
  }

  void Grow(size_t lines) {
    places_.assign(std::bit_ceil(4 * lines + 16), 0);
    for (size_t i = 0; i < known_.size(); ++i) {
      size_t at = known_[i].hash & (places_.size() - 1);
      while (places_[at] != 0) at = (at + 1) & (places_.size() - 1);
      places_[at] = static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<uint32_t> places_;  // into known_, from 1; a power of two of them
  std::vector<Known> known_;
};

LineDiffer::LineDiffer(std::string_view a)
    : lines_(SplitLines(a)),
      numbers_(std::make_unique<Numbers>(lines_.size())),
      sequence_(numbers_->Of(lines_)) {}

LineDiffer::~LineDiffer() = default;

TextDiff LineDiffer::Diff(std::string_view b) {
  TextDiff diff{lines_, SplitLines(b), {}};
  diff.changes = DiffSequences(sequence_, numbers_->OfGuests(diff.b));
  return diff;
}

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

TextDiff DiffLines(std::string_view a, std::string_view b) { return LineDiffer(a).Diff(b); }

void WriteUnified(const TextDiff& diff, size_t context,
                  const std::function<void(DiffLine, const std::string&)>& each) {
  std::string whole;
  UnifiedWriter(diff, context, [&](DiffLine kind, std::string_view mark, std::string_view line) {
    whole.assign(mark).append(line);
    each(kind, whole);
  }).Run();
}

void AppendUnified(const TextDiff& diff, size_t context, std::string& out) {
  UnifiedWriter(diff, context, [&](DiffLine, std::string_view mark, std::string_view line) {
    out.append(mark).append(line).push_back('\n');
  }).Run();
}

}  // namespace kerf::trace
