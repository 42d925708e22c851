// Which records of a journal count: the rule of docs/formats/trace.md section 2, for everyone who
// reads one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/file_system.h"
#include "trace/journal_line.h"

namespace kerf::trace {

class RecordLedger {
 public:
  enum class Fate {
    kCommitted,   // or its commit is lost, and a later record of its task shows that it was there
    kWhole,       // no commit, but it and all before it in its batch have all their files
    kUnfinished,  // no commit and not whole: being written, or cut short; never acknowledged
    kGivenUp,     // abandoned, or a later record took its place
  };
  struct Entry {
    Step step;
    uint64_t offset = 0;  // of its line
    Fate fate = Fate::kCommitted;
  };

  // Lines in the order of the journal.
  void Apply(JournalLine&& line, uint64_t offset);

  // Looks at the files of records without commit. Entries in the order of the journal.
  std::vector<Entry> Decide(FileSystem& fs, const std::string& op_dir) &&;

 private:
  void MarkGivenUp();
  [[nodiscard]] std::unordered_set<size_t> OpenEntries() const;
  // Those of the open ones that a later commit of their task vouches for.
  [[nodiscard]] std::unordered_set<size_t> Followed() const;

  std::vector<Entry> entries_;
  std::vector<uint64_t> batch_of_;                             // hash, for each entry
  std::unordered_map<std::string, std::vector<size_t>> open_;  // batch → indexes of entries_
  std::unordered_set<uint64_t> late_abandons_;  // batches abandoned after their commit
};

}  // namespace kerf::trace
