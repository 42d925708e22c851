// How a change is noticed, per operator:
//
// With a journal: by its size and time. It only grows, so the lines after the mark are read; the
// mark's last line must still be there, else the journal was cut or replaced and the operator is
// read from the beginning. Records whose batch has no commit yet lie after the mark's settled end
// and are read again each time.
//
// Without one, or when files appear that no line knows: by the times of its folders.
#include "trace/run_watch.h"

#include <algorithm>

#include "base/hash.h"
#include "trace/names.h"

namespace kerf::trace {
namespace {

constexpr char kResultsFile[] = "verification_results.jsonl";

int64_t StampOf(const std::string& text) { return static_cast<int64_t>(Xxh3(text) >> 1); }

}  // namespace

Result<std::vector<std::string>> RunWatch::ListFolders() {
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs_.List(run_path_));
  std::vector<std::string> names;
  links_.clear();
  for (const DirEntry& entry : entries) {
    if (entry.kind == FileKind::kSymlink && entry.name[0] != '.') links_.push_back(entry.name);
    // As the reader chooses operators, less its look into the folder: one without steps costs a row
    // and no more.
    if (entry.kind == FileKind::kDirectory && entry.name[0] != '.' &&
        entry.name != "passed_cases") {
      names.push_back(entry.name);
    }
  }
  std::sort(names.begin(), names.end());
  std::sort(links_.begin(), links_.end());
  return names;
}

int64_t RunWatch::FolderStamp(const std::string& dir, bool has_journal) {
  std::string text;
  for (const char* folder : {"", kConductorFolder, kRecorderFolder}) {
    const Result<std::optional<FileInfo>> info = fs_.Stat(JoinPath(dir, folder));
    if (!info.ok() || !info->has_value()) continue;
    const int64_t mtime_ns = (*info)->mtime_ns;
    text += std::to_string(mtime_ns) + " " + std::to_string((*info)->size) + " ";
    // With a journal this is only a second look: what kerf records shows in the journal's size.
    if (has_journal) break;
    if (clock_.WallNanos() - mtime_ns < kCoarsestTimeNs) return 0;
  }
  return std::max<int64_t>(StampOf(text), 1);
}

Result<OpState> RunWatch::Observe(const std::string& name) {
  OpState seen;
  seen.name = name;
  const std::string dir = JoinPath(run_path_, name);
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> journal,
                        fs_.Stat(JoinPath(dir, kJournalName)));
  seen.has_journal = journal.has_value();
  seen.folder_stamp = FolderStamp(dir, seen.has_journal);
  if (journal.has_value()) {
    seen.journal_bytes = static_cast<int64_t>(journal->size);
    seen.journal_mtime_ns = journal->mtime_ns;
  }
  return seen;
}

RunChange Compare(const OpState& known, const OpState& seen) {
  if (known.id == 0 || known.has_journal != seen.has_journal) {
    return RunChange::kFull;
  }
  const bool same_folders = known.folder_stamp == seen.folder_stamp && known.folder_stamp != 0;
  if (!seen.has_journal) return same_folders ? RunChange::kNone : RunChange::kFull;
  const bool same_size = seen.journal_bytes == known.journal_bytes;
  const bool same_time = seen.journal_mtime_ns == known.journal_mtime_ns;
  const bool open = known.mark.settled < known.mark.end;
  if (same_size && !same_time) return RunChange::kFull;  // written over in place
  if (same_size && !open) return same_folders ? RunChange::kNone : RunChange::kFull;
  if (static_cast<uint64_t>(seen.journal_bytes) < known.mark.end) return RunChange::kFull;
  return known.unjournaled_steps > 0 ? RunChange::kFull : RunChange::kTail;
}

Result<int64_t> RunWatch::ResultsStamp() {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info,
                        fs_.Stat(JoinPath(run_path_, kResultsFile)));
  if (!info.has_value()) return 0;
  return StampOf(std::to_string(info->size) + " " + std::to_string(info->mtime_ns));
}

}  // namespace kerf::trace
