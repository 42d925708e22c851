// The end of a journal: what was appended since somebody last looked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/step.h"
#include "base/file_system.h"
#include "base/result.h"

namespace kerf::trace {

// How far a journal has been read, and enough to notice that it is no longer the same one.
struct JournalMark {
  uint64_t end = 0;  // of the last whole line
  uint64_t settled =
      0;  // lines before it are final; at and after it some batch has neither commit nor abandon
  uint64_t line_begin = 0;  // of the last whole line
  uint64_t line_hash = 0;   // of its bytes
};

struct TailStep {
  Step step;
  bool settled = false;  // false: look again next time
};

struct JournalTail {
  JournalMark mark;
  // Records at and after `from.settled` that count, by place. Of two for the same place the later
  // one counts.
  std::vector<TailStep> steps;
};

// Reads the journal of `op_dir` from a mark; from its beginning with a default one. kCorrupt when
// the journal was cut or replaced since the mark was made: read it all again.
Result<JournalTail> ReadJournalTail(FileSystem& fs, const std::string& op_dir,
                                    const JournalMark& from);

}  // namespace kerf::trace
