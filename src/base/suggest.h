// The nearest right word for a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate that `word` was probably meant to be; nullopt when none is near enough to be worth
// saying.
std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// "; did you mean X?", or "" when nothing is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace kerf
