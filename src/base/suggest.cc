#include "base/suggest.h"

#include <algorithm>

namespace kerf {
namespace {

std::string_view WithoutDashes(std::string_view word) {
  while (!word.empty() && word.front() == '-') word.remove_prefix(1);
  return word;
}

}  // namespace

// Optimal string alignment: three rows of the usual table suffice, because a swap looks two rows
// back.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  const std::string_view typed = WithoutDashes(word);
  // Longer input is no typing mistake, and the table costs its length times the candidate's.
  if (typed.empty() || typed.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::string_view right = WithoutDashes(candidate);
    size_t distance = EditDistance(typed, right);
    // An abbreviation is near however much is missing.
    if (typed.size() >= 2 && right.substr(0, typed.size()) == typed) distance = 1;
    const size_t allowed = std::max<size_t>(1, std::max(typed.size(), right.size()) / 3);
    if (distance > allowed || distance >= right.size()) continue;
    if (!best.has_value() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = Nearest(word, candidates);
  return nearest.has_value() ? "; did you mean " + *nearest + "?" : std::string();
}

}  // namespace kerf
