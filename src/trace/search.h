// Full-text search over the steps of a run.
//
//   SearchRequest request{.query = "shape mismatch", .verdict = Verification::kFailed};
//   KERF_ASSIGN_OR_RETURN(SearchPage page, Search(*index, request));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/step.h"
#include "base/result.h"
#include "trace/index.h"

namespace kerf::trace {

enum class SearchOrder { kNewestFirst, kBestFirst };

struct SearchRequest {
  // FTS5's language where it parses: words (all must occur), "a phrase", pre*, AND OR NOT, NEAR(a
  // b), and log: prompt: reasoning: result: before what must be in that part. Any other text is
  // taken as plain words.
  std::string query;
  // Filters; empty ones let everything pass.
  std::string op;
  std::string task;
  std::string action;  // DO_CODER …; or a conductor's check
  std::optional<Verification> verdict;
  std::optional<RecordKind> kind;
  std::optional<int64_t> since_ns;  // both ends count
  std::optional<int64_t> until_ns;
  SearchOrder order = SearchOrder::kNewestFirst;
  int64_t limit = 20;
};

// Part of an excerpt; `match` is what was searched for. Bytes as stored.
struct SnippetPiece {
  std::string text;
  bool match = false;
};

struct SearchHit {
  std::string run;
  std::string op;
  Step step;         // without hashes, meta and reply
  std::string part;  // "result", "log", "reasoning", "prompt": where the excerpt is from
  std::string file;  // path of the file with the match
  std::vector<SnippetPiece> snippet;  // empty when the file is gone
  bool cut_before = false;            // whether there is more text on either side
  bool cut_after = false;
  double rank = 0;  // of kBestFirst: smaller is better
};

struct SearchPage {
  std::vector<SearchHit> hits;
  bool more = false;  // there are more than the limit allowed
};

// Looks in the index as it is; call Update() first. kInvalidInput when the query holds no word.
Result<SearchPage> Search(TraceIndex& index, const SearchRequest& request);

// A moment as users write it: what ParseUtc reads, or 90s, 30m, 2h, 3d, 1w before `now_ns`. With
// `at_end`, a day without a time means its end, and a second without a fraction its.
std::optional<int64_t> ParseMoment(const std::string& text, int64_t now_ns, bool at_end);

// The better or newer hits first, whichever `order` says; for hits of several runs.
void SortHits(std::vector<SearchHit>& hits, SearchOrder order);

}  // namespace kerf::trace
