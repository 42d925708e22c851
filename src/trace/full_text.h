// What kerf adds to SQLite's full-text search: a tokenizer, and the place of a match.
//
// The tokenizer is FTS5's unicode61 (words are runs of letters and digits, case and accents do not
// count), except that every Chinese, Japanese or Korean character is a word of its own: those
// scripts have no spaces, so that whole sentences would be one word and nothing inside them could
// be found.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/sqlite.h"

namespace kerf::trace {

// Words of a text, counted from 0.
struct WordSpan {
  int64_t first = 0;
  int64_t count = 0;
};

// The best place of a match: the part with the most different search words close to each other.
struct MatchPlace {
  int column = -1;  // -1: no place (a query of filters only)
  std::vector<WordSpan> words;
};

// Gives a connection the tokenizer "kerf" and the function kerf_match(TABLE, COLUMNS): the place of
// the match in the first COLUMNS columns, as text for ParseMatchPlace.
Status InstallFullText(Database& database);
MatchPlace ParseMatchPlace(const std::string& text);

// The tokenizer by itself.
class Words {
 public:
  static Result<Words> Create(Database& database);
  // Gets a word's byte range and the word as it is compared; false ends the walk.
  using Each = std::function<bool(size_t begin, size_t end, std::string_view word)>;
  void Walk(std::string_view text, const Each& each) const;

 private:
  struct Splitter;
  explicit Words(std::shared_ptr<Splitter> splitter) : splitter_(std::move(splitter)) {}
  std::shared_ptr<Splitter> splitter_;
};

}  // namespace kerf::trace
