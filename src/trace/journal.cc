#include "trace/journal.h"

#include <algorithm>

#include "base/hash.h"
#include "trace/names.h"

namespace kerf::trace {

JournalScan ScanJournal(std::string_view bytes, uint64_t base,
                        const std::function<void(JournalLine&&, uint64_t)>& each) {
  JournalScan scan;
  scan.good_end = base;
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) {
      scan.torn_bytes = bytes.size() - at;
      break;
    }
    Result<JournalLine> line = DecodeLine(bytes.substr(at, end - at));
    if (line.ok()) {
      each(std::move(line).value(), base + at);
    } else {
      scan.damaged.push_back({base + at, end - at, line.error().message});
    }
    at = end + 1;
    scan.good_end = base + at;
  }
  return scan;
}

// The task's lock makes records of one task follow each other, and each takes the number after the
// last one that counts.
bool GivesUp(const Step& later, const Step& earlier) {
  if (later.recovered) return false;  // numbered by its files, not by the counter
  if (later.kind != RecordKind::kConductor) return earlier.step >= later.step;
  return earlier.kind == RecordKind::kConductor && earlier.step == later.step &&
         earlier.check == later.check && earlier.attempt >= later.attempt;
}

Journal::Journal(FileSystem& fs, std::string op_dir)
    : fs_(fs), op_dir_(std::move(op_dir)), path_(JoinPath(op_dir_, kJournalName)) {}

Result<std::unique_ptr<Journal>> Journal::Open(FileSystem& fs, const std::string& op_dir) {
  std::unique_ptr<Journal> journal(new Journal(fs, op_dir));
  KERF_RETURN_IF_ERROR(journal->Load());
  return journal;
}

Status Journal::Load() {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> before, fs_.Stat(path_));
  KERF_ASSIGN_OR_RETURN(file_, fs_.OpenAppend(path_));
  if (!before.has_value()) KERF_RETURN_IF_ERROR(fs_.SyncDir(op_dir_));
  KERF_RETURN_IF_ERROR(Refresh());
  // What was torn may have been the commit of an acknowledged record.
  KERF_ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  damaged_ = damaged_ || size > read_to_;
  return FindUnjournaled();
}

Status Journal::Refresh() {
  KERF_ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  if (size < read_to_) {  // somebody cut it: what we remember may be gone
    read_to_ = 0;
    last_seq_ = 0;
    damaged_ = false;
    tasks_.clear();
    open_batches_.clear();
    given_up_batches_.clear();
    known_files_.clear();
  }
  if (size == read_to_) return {};
  KERF_ASSIGN_OR_RETURN(const std::string bytes, file_->ReadAt(read_to_, size - read_to_));
  uint64_t repaired_to = 0;
  const JournalScan scan = ScanJournal(bytes, read_to_, [&](JournalLine&& line, uint64_t offset) {
    damaged_ = damaged_ || line.seq > last_seq_ + 1;
    if (line.kind == LineKind::kRepair) {
      damaged_ = false;
      repaired_to = offset;
    }
    Apply(std::move(line));
  });
  damaged_ = damaged_ || (!scan.damaged.empty() && scan.damaged.back().offset >= repaired_to);
  read_to_ = scan.good_end;
  return ForgetAbandonedNames();
}

void Journal::Apply(JournalLine&& line) {
  last_seq_ = std::max(last_seq_, line.seq);
  if (line.kind == LineKind::kRecord) {
    ApplyRecord(std::move(line));
    return;
  }
  if (line.kind == LineKind::kRepair) return;
  const auto batch = open_batches_.find(line.batch);
  if (line.kind == LineKind::kAbandon &&
      (batch == open_batches_.end() || given_up_batches_.contains(line.batch))) {
    late_abandon_ = true;
  }
  if (batch == open_batches_.end()) return;
  for (const std::string& task : batch->second) {
    TaskState& state = tasks_[task];
    std::vector<JournalLine>& open = state.uncommitted;
    const auto mine = std::stable_partition(
        open.begin(), open.end(),
        [&](const JournalLine& record) { return record.batch != line.batch; });
    if (line.kind == LineKind::kAbandon) {
      for (auto record = open.end(); record != mine;) ApplyAbandon(state, *--record);
    }
    for (auto record = mine; line.kind == LineKind::kCommit && record != open.end(); ++record) {
      const Step& step = record->step;
      if (step.kind == RecordKind::kConductor || step.recovered) continue;
      state.committed_step = std::max(state.committed_step, step.step);
    }
    open.erase(mine, open.end());
  }
  open_batches_.erase(batch);
}

// The record was never acknowledged: its step number and its file names are free again. Called from
// the last record of a batch back; a number below one that is in use stays taken.
void Journal::ApplyAbandon(TaskState& state, const JournalLine& record) {
  if (record.step.kind == RecordKind::kConductor) {
    int64_t& attempts = state.attempts[{record.step.step, record.step.check}];
    if (attempts == record.step.attempt) --attempts;
  } else if (state.last_step == record.step.step) {
    --state.last_step;
  }
  for (const StepFile& file : record.step.files) known_files_.erase(Xxh3(file.name));
}

// Closed batches are not kept in memory, and this is rare enough to read the journal again for.
Status Journal::ForgetAbandonedNames() {
  if (!late_abandon_) return {};
  late_abandon_ = false;
  KERF_ASSIGN_OR_RETURN(const std::string bytes, file_->ReadAt(0, read_to_));
  known_files_.clear();
  std::unordered_map<std::string, std::vector<uint64_t>> names_of;
  ScanJournal(bytes, 0, [&](JournalLine&& line, uint64_t) {
    for (const StepFile& file : line.step.files) {
      known_files_.insert(Xxh3(file.name));
      names_of[line.batch].push_back(Xxh3(file.name));
    }
    if (line.kind != LineKind::kAbandon) return;
    for (const uint64_t name : names_of[line.batch]) known_files_.erase(name);
  });
  return {};
}

void Journal::ApplyRecord(JournalLine&& line) {
  TaskState& state = tasks_[line.step.task];
  const Step& step = line.step;
  GiveUp(state, step);
  if (step.kind == RecordKind::kConductor) {
    int64_t& attempts = state.attempts[{step.step, step.check}];
    attempts = std::max(attempts, step.attempt);
  } else {
    state.last_step = std::max(state.last_step, step.step);
  }
  for (const StepFile& file : step.files) known_files_.insert(Xxh3(file.name));
  open_batches_[line.batch].insert(step.task);
  std::vector<JournalLine>& open = state.uncommitted;
  const bool goes_back = !open.empty() && step.step < open.back().step.step;
  state.out_of_order = !open.empty() && (state.out_of_order || goes_back);
  open.push_back(std::move(line));
}

// Takes out what the new record shows to be given up. Only steps from its own on can be; there may
// be very many before it.
void Journal::GiveUp(TaskState& state, const Step& step) {
  std::vector<JournalLine>& open = state.uncommitted;
  auto from = open.begin();
  if (!state.out_of_order) {
    from = open.end();
    while (from != open.begin() && std::prev(from)->step.step >= step.step) --from;
  }
  const auto gone = std::stable_partition(
      from, open.end(), [&](const JournalLine& other) { return !GivesUp(step, other.step); });
  for (auto other = gone; other != open.end(); ++other) given_up_batches_.insert(other->batch);
  open.erase(gone, open.end());
}

bool Journal::Abandon(const std::string& batch) {
  JournalLine line;
  line.kind = LineKind::kAbandon;
  line.batch = batch;
  if (Append({line}).ok()) return true;
  Apply(std::move(line));
  return false;
}

Status Journal::FindUnjournaled() {
  unjournaled_.clear();
  for (const char* folder : {"", kConductorFolder, kRecorderFolder}) {
    const std::string dir = *folder == '\0' ? op_dir_ : JoinPath(op_dir_, folder);
    KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs_.Stat(dir));
    if (!info.has_value() || info->kind != FileKind::kDirectory) continue;
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs_.List(dir));
    for (const DirEntry& entry : entries) {
      if (entry.kind != FileKind::kFile) continue;
      const std::string name = *folder == '\0' ? entry.name : JoinPath(folder, entry.name);
      if (KnowsFile(name)) continue;
      std::optional<ParsedName> parsed = ParseFileName(BaseName(op_dir_), folder, entry.name);
      if (parsed.has_value()) unjournaled_[parsed->task].push_back(name);
    }
  }
  return {};
}

bool Journal::KnowsFile(std::string_view name) const { return known_files_.contains(Xxh3(name)); }

Status Journal::CutTornTail() {
  KERF_ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  if (size == read_to_) return {};
  // Refresh() has taken in every whole line, so what is left has no LF.
  return file_->Truncate(read_to_);
}

Status Journal::Append(std::vector<JournalLine> lines) {
  KERF_RETURN_IF_ERROR(file_->Lock());
  struct Unlocker {
    File& file;
    ~Unlocker() { file.Unlock(); }
  } unlocker{*file_};
  KERF_RETURN_IF_ERROR(Refresh());
  KERF_RETURN_IF_ERROR(CutTornTail());
  std::string bytes;
  int64_t seq = last_seq_;
  for (JournalLine& line : lines) {
    if (line.step.step > kMaxStep || line.step.attempt > kMaxStep) {
      return InvalidInput("task '" + line.step.task +
                          "' has no step numbers left; use another task id");
    }
    // A stranger's line may have the last number; repeating it leaves no gap.
    seq = std::min(seq + 1, kMaxSeq);
    line.seq = seq;
    AppendLine(line, bytes);
  }
  Status written = file_->Write(bytes);
  if (!written.ok()) {
    // Part of it may be there: take it back, so that whole lines of a failed append are not
    // mistaken for records.
    (void)file_->Truncate(read_to_);
    return written;
  }
  read_to_ += bytes.size();
  last_seq_ = seq;
  for (JournalLine& line : lines) Apply(std::move(line));
  return ForgetAbandonedNames();
}

}  // namespace kerf::trace
