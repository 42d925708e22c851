#include "trace/excerpt.h"

#include <algorithm>

#include "trace/step_texts.h"

namespace kerf::trace {
namespace {

// In bytes. A match is never cut by the first two; the last bounds everything.
constexpr size_t kBefore = 60;
constexpr size_t kAfter = 100;
constexpr size_t kLongest = 400;

struct Range {
  size_t begin = 0;
  size_t end = 0;
};

// Byte ranges of the words of a match, in order and without overlaps; none when one of them is not
// sought. Stops reading after the last.
std::vector<Range> FindMatches(const Words& words, const SoughtWords& sought, std::string_view text,
                               const MatchPlace& place) {
  int64_t last = 0;
  for (const WordSpan& span : place.words) last = std::max(last, span.first + span.count);
  std::vector<Range> of_word;  // from the first word of the match on
  std::vector<bool> is_sought;
  const int64_t first = place.words.empty() ? 0 : place.words[0].first;
  int64_t number = 0;
  words.Walk(text, [&](size_t begin, size_t end, std::string_view word) {
    if (number >= first) {
      of_word.push_back({begin, end});
      is_sought.push_back(sought.Has(word));
    }
    return ++number < last;
  });
  std::vector<Range> matches;
  for (const WordSpan& span : place.words) {
    const int64_t from = span.first - first;
    const int64_t to = std::min<int64_t>(from + span.count, static_cast<int64_t>(of_word.size()));
    if (from < 0 || from >= to) continue;
    if (std::find(is_sought.begin() + from, is_sought.begin() + to, false) !=
        is_sought.begin() + to) {
      return {};
    }
    const Range range{of_word[static_cast<size_t>(from)].begin,
                      of_word[static_cast<size_t>(to - 1)].end};
    if (!matches.empty() && range.begin < matches.back().end) {
      matches.back().end = std::max(matches.back().end, range.end);
    } else {
      matches.push_back(range);
    }
  }
  return matches;
}

bool IsBreak(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Where to begin and end around the matches: at white space if there is some, else at a character.
Range Surroundings(std::string_view text, const Range& file, const Range& matches) {
  size_t begin = matches.begin - std::min(matches.begin - file.begin, kBefore);
  if (begin > file.begin) {
    size_t at = begin;
    while (at < matches.begin && !IsBreak(text[at])) ++at;
    begin = at < matches.begin ? at + 1 : begin;
    while (begin < matches.begin && IsContinuation(text[begin])) ++begin;
  }
  const size_t wish = std::min({matches.end + kAfter, begin + kLongest, file.end});
  size_t end = wish;
  if (end < file.end) {
    while (end > matches.end && !IsBreak(text[end])) --end;
    if (end <= matches.end) end = std::max(wish, begin);
    while (end > begin && IsContinuation(text[end])) --end;
  }
  return {begin, end};
}

void AddPieces(std::string_view text, const Range& range, const std::vector<Range>& matches,
               std::vector<SnippetPiece>& pieces) {
  size_t at = range.begin;
  for (const Range& match : matches) {
    const Range clipped{std::max(match.begin, at), std::min(match.end, range.end)};
    if (clipped.begin >= clipped.end) continue;
    if (clipped.begin > at) {
      pieces.push_back({std::string(text.substr(at, clipped.begin - at)), false});
    }
    pieces.push_back({std::string(text.substr(clipped.begin, clipped.end - clipped.begin)), true});
    at = clipped.end;
  }
  if (at < range.end) pieces.push_back({std::string(text.substr(at, range.end - at)), false});
}

}  // namespace

SoughtWords::SoughtWords(const Words& words, std::string_view query)
    : may_be_beginnings_(query.find('*') != std::string_view::npos) {
  words.Walk(query, [&](size_t, size_t, std::string_view word) {
    words_.emplace(word);
    return true;
  });
}

bool SoughtWords::Has(std::string_view word) const {
  if (words_.contains(word)) return true;
  return may_be_beginnings_ &&
         std::any_of(words_.begin(), words_.end(),
                     [&](const std::string& one) { return word.starts_with(one); });
}

void AddExcerpt(FileSystem& fs, const Words& words, const SoughtWords& sought,
                const std::string& op_dir, const std::vector<std::string>& names,
                const MatchPlace& place, SearchHit& hit) {
  if (place.column < 0 || static_cast<size_t>(place.column) >= kAllParts.size()) return;
  const Part part = kAllParts[static_cast<size_t>(place.column)];
  hit.part = PartName(part);
  const PartText text = ReadPart(fs, op_dir, names, part);
  const std::vector<Range> matches = FindMatches(words, sought, text.text, place);
  Range file{0, text.text.size()};
  for (const PartFile& one : text.files) {
    if (!matches.empty() && one.begin > matches[0].begin) {
      file.end = one.begin;
      break;
    }
    file.begin = one.begin;
    hit.file = JoinPath(op_dir, one.name);
  }
  if (matches.empty()) return;  // the file is gone, or is no longer what was indexed
  const Range around = Surroundings(text.text, file, {matches[0].begin, matches.back().end});
  hit.cut_before = around.begin > file.begin;
  hit.cut_after = around.end < file.end;
  AddPieces(text.text, around, matches, hit.snippet);
}

}  // namespace kerf::trace
