#include "trace/journal_tail.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/hash.h"
#include "trace/journal.h"
#include "trace/names.h"
#include "trace/recovery.h"

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
      ScanJournal(line, offset,
                  [&](JournalLine&& decoded, uint64_t) { Apply(std::move(decoded), offset); });
      tail_.mark.line_begin = offset;
      tail_.mark.end = offset + line.size();
      tail_.mark.line_hash = Xxh3(line);
      at = end + 1;
    }
    Finish();
    return std::move(tail_);
  }

 private:
  struct Entry {
    Step step;
    uint64_t offset = 0;
  };

  void Apply(JournalLine&& line, uint64_t offset) {
    if (line.kind == LineKind::kRecord) {
      open_[line.batch].push_back(entries_.size());
      entries_.push_back({std::move(line.step), offset});
      return;
    }
    const auto batch = open_.find(line.batch);
    if (batch == open_.end()) return;
    if (line.kind == LineKind::kAbandon) {
      dropped_.insert(batch->second.begin(), batch->second.end());
    }
    open_.erase(batch);
  }

  // The reader's rule: a record without commit counts when its files are whole and so are those
  // before it in its batch.
  void Finish() {
    tail_.mark.settled = tail_.mark.end;
    for (const auto& [batch, indexes] : open_) {
      bool whole = true;
      for (const size_t index : indexes) {
        tail_.mark.settled = std::min(tail_.mark.settled, entries_[index].offset);
        whole = whole && FilesMatch(fs_, op_dir_, entries_[index].step);
        if (!whole) dropped_.insert(index);
      }
    }
    std::map<std::tuple<std::string, int64_t, bool, std::string, int64_t>, size_t> last;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Step& step = entries_[i].step;
      if (dropped_.contains(i)) continue;
      last[{step.task, step.step, step.kind == RecordKind::kConductor, step.check, step.attempt}] =
          i;
    }
    for (const auto& [place, index] : last) {
      tail_.steps.push_back(
          {std::move(entries_[index].step), entries_[index].offset < tail_.mark.settled});
    }
  }

  FileSystem& fs_;
  const std::string op_dir_;
  JournalTail tail_;
  std::vector<Entry> entries_;
  std::map<std::string, std::vector<size_t>> open_;  // batch → indexes of entries_
  std::set<size_t> dropped_;
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
