// One line of journal.jsonl. docs/formats/trace.md section 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/step.h"
#include "base/result.h"

namespace kerf::trace {

enum class LineKind { kRecord, kCommit, kAbandon, kRepair };

// Numbers are counted on from: beyond these none is written, and lines that claim more are damage.
inline constexpr int64_t kMaxSeq = int64_t{1} << 53;
inline constexpr int64_t kMaxStep = 999'999'999;  // nine digits, as file names have at most

struct JournalLine {
  LineKind kind = LineKind::kRecord;
  int64_t seq = 0;
  std::string batch;
  Step step;               // kRecord only
  std::string verify_res;  // kRecord of a verifier only: the short result
};

// With the checksum and the final LF.
std::string EncodeLine(const JournalLine& line);
void AppendLine(const JournalLine& line, std::string& out);

// `text` is without the LF. kCorrupt when the checksum or the structure is wrong, kUnavailable when
// a newer kerf wrote it.
Result<JournalLine> DecodeLine(std::string_view text);

}  // namespace kerf::trace
