// The words around a match, cut from the file they stand in.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trace/full_text.h"
#include "trace/search.h"

namespace kerf::trace {

// The words of a query, by which a file that has changed since it was indexed is noticed.
class SoughtWords {
 public:
  SoughtWords(const Words& words, std::string_view query);
  [[nodiscard]] bool Has(std::string_view word) const;

 private:
  std::set<std::string, std::less<>> words_;
  const bool may_be_beginnings_;  // the query has word*
};

// Fills in part, file and snippet of `hit`; no snippet when other words stand where the match was.
// `names` are the step's files, relative to `op_dir`.
void AddExcerpt(FileSystem& fs, const Words& words, const SoughtWords& sought,
                const std::string& op_dir, const std::vector<std::string>& names,
                const MatchPlace& place, SearchHit& hit);

}  // namespace kerf::trace
