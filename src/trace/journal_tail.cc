#include "trace/journal_tail.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/hash.h"
#include "trace/journal.h"
#include "trace/names.h"
#include "trace/record_ledger.h"

namespace kerf::trace {
namespace {

class TailReader {
 public:
  TailReader(FileSystem& fs, const std::string& op_dir, const JournalMark& from)
      : fs_(fs), op_dir_(op_dir) {
    tail_.mark = from;
  }

  // `bytes` begin at `base`, which is the beginning of a line.
  JournalTail Run(std::string_view bytes, uint64_t base) {
    for (size_t at = 0; at < bytes.size();) {
      const size_t end = bytes.find('\n', at);
      if (end == std::string_view::npos) break;
      const std::string_view line = bytes.substr(at, end + 1 - at);
      const uint64_t offset = base + at;
      ScanJournal(line, offset, [&](JournalLine&& decoded, uint64_t) {
        ledger_.Apply(std::move(decoded), offset);
      });
      tail_.mark.line_begin = offset;
      tail_.mark.end = offset + line.size();
      tail_.mark.line_hash = Xxh3(line);
      at = end + 1;
    }
    Finish();
    return std::move(tail_);
  }

 private:
  void Finish() {
    using Fate = RecordLedger::Fate;
    std::vector<RecordLedger::Entry> entries = std::move(ledger_).Decide(fs_, op_dir_);
    tail_.mark.settled = tail_.mark.end;
    std::map<std::tuple<std::string, int64_t, bool, std::string, int64_t>, size_t> last;
    for (size_t i = 0; i < entries.size(); ++i) {
      const RecordLedger::Entry& entry = entries[i];
      if (entry.fate == Fate::kWhole || entry.fate == Fate::kUnfinished) {
        tail_.mark.settled = std::min(tail_.mark.settled, entry.offset);
      }
      if (entry.fate == Fate::kGivenUp || entry.fate == Fate::kUnfinished) continue;
      const Step& step = entry.step;
      last[{step.task, step.step, step.kind == RecordKind::kConductor, step.check, step.attempt}] =
          i;
    }
    for (const auto& [place, index] : last) {
      tail_.steps.push_back(
          {std::move(entries[index].step), entries[index].offset < tail_.mark.settled});
    }
  }

  FileSystem& fs_;
  const std::string op_dir_;
  JournalTail tail_;
  RecordLedger ledger_;
};

}  // namespace

Result<JournalTail> ReadJournalTail(FileSystem& fs, const std::string& op_dir,
                                    const JournalMark& from) {
  const std::string path = JoinPath(op_dir, kJournalName);
  // One read gives both the line that proves the mark and what follows it.
  const uint64_t begin = std::min(from.settled, from.line_begin);
  KERF_ASSIGN_OR_RETURN(
      const std::string bytes,
      fs.ReadRange(path, begin, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
  if (from.end > 0) {
    const std::string_view all = bytes;
    if (bytes.size() < from.end - begin ||
        Xxh3(all.substr(from.line_begin - begin, from.end - from.line_begin)) != from.line_hash) {
      return Corrupt(path + " was cut or replaced");
    }
  }
  return TailReader(fs, op_dir, from)
      .Run(std::string_view(bytes).substr(from.settled - begin), from.settled);
}

}  // namespace kerf::trace
