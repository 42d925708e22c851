// Reading an operator again compares signatures: steps that are in the index already cost no
// tokenizing.
#include "trace/index_update.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "trace/journal.h"
#include "trace/names.h"
#include "trace/reader.h"
#include "trace/step_texts.h"

namespace kerf::trace {
namespace {

constexpr int64_t kCommitEveryNs = 1'000'000'000;
constexpr char kResultsFact[] = "results_stamp";
// The signature of a row with a text that could not be read: no step's, so that the next full look
// makes the row anew.
constexpr uint64_t kIncomplete = 0;

// What a step consists of; two steps with the same value need not be told apart.
std::string Describe(const Step& step) {
  std::string text;
  const auto add = [&text](std::string_view field) {
    text += field;
    text += '\0';
  };
  add(step.task);
  add(std::to_string(step.step));
  add(RecordKindName(step.kind));
  add(step.action);
  add(step.check);
  add(std::to_string(step.attempt));
  add(step.names);
  add(step.time);
  add(VerificationName(step.verification));
  add(step.journaled ? "journaled" : "");
  for (const StepFile& file : step.files) {
    add(file.name);
    add(std::to_string(file.bytes));
    add(file.sha256);
  }
  return text;
}

}  // namespace

IndexUpdater::IndexUpdater(FileSystem& fs, Clock& clock, IndexStore& store, std::string run_path,
                           std::function<void(const IndexProgress&)> progress)
    : fs_(fs),
      clock_(clock),
      store_(store),
      run_path_(std::move(run_path)),
      on_progress_(std::move(progress)),
      watch_(fs_, clock_, run_path_) {}

Status IndexUpdater::Update() {
  KERF_ASSIGN_OR_RETURN(const std::vector<std::string> folders, watch_.ListFolders());
  NoteLinks();
  KERF_ASSIGN_OR_RETURN(const auto known, store_.LoadOps());
  KERF_ASSIGN_OR_RETURN(const int64_t results, watch_.ResultsStamp());
  KERF_ASSIGN_OR_RETURN(const int64_t known_results, store_.GetFact(kResultsFact));
  everything_changed_ = results != known_results;
  std::vector<std::string> changed;
  size_t still_there = 0;
  for (const std::string& name : folders) {
    const auto state = known.find(name);
    if (state != known.end()) ++still_there;
    const Result<OpState> observed = watch_.Observe(name);
    if (!observed.ok() && !MaySkip(observed.error())) return observed.error();
    if (!observed.ok()) {
      NoteSkipped(name, observed.error().message);
      continue;
    }
    const OpState& seen = *observed;
    const bool same = state != known.end() && Compare(state->second, seen) == RunChange::kNone;
    if (!same || everything_changed_) changed.push_back(name);
  }
  if (still_there < known.size()) KERF_RETURN_IF_ERROR(ForgetGone(folders));
  KERF_RETURN_IF_ERROR(SyncAll(changed, /*commit_often=*/true));
  if (everything_changed_) KERF_RETURN_IF_ERROR(store_.SetFact(kResultsFact, results));
  everything_changed_ = false;
  return {};
}

Status IndexUpdater::Rebuild() {
  KERF_ASSIGN_OR_RETURN(const std::vector<std::string> folders, watch_.ListFolders());
  NoteLinks();
  Transaction transaction(store_.database());
  KERF_RETURN_IF_ERROR(transaction.Begin());
  KERF_RETURN_IF_ERROR(store_.Clear());
  KERF_ASSIGN_OR_RETURN(const int64_t results, watch_.ResultsStamp());
  KERF_RETURN_IF_ERROR(SyncAll(folders, /*commit_often=*/false));
  KERF_RETURN_IF_ERROR(store_.SetFact(kResultsFact, results));
  return transaction.Commit();
}

bool IndexUpdater::MaySkip(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kDenied;
}

void IndexUpdater::NoteSkipped(const std::string& name, const std::string& reason) {
  const std::string dir = JoinPath(run_path_, name);
  if (IsThere(fs_, dir)) skipped_.emplace_back(dir, reason);
}

// What the reader would name, too.
void IndexUpdater::NoteLinks() {
  for (const std::string& name : watch_.links()) {
    if (IsLinkedOp(fs_, JoinPath(run_path_, name))) NoteSkipped(name, kNotFollowed);
  }
}

Status IndexUpdater::ForgetGone(const std::vector<std::string>& folders) {
  Transaction transaction(store_.database());
  KERF_RETURN_IF_ERROR(transaction.Begin());
  KERF_ASSIGN_OR_RETURN(const auto known, store_.LoadOps());
  for (const auto& [name, op] : known) {
    if (std::binary_search(folders.begin(), folders.end(), name)) continue;
    KERF_ASSIGN_OR_RETURN(const int64_t steps, store_.RemoveOp(op.id));
    removed_ += steps;
  }
  return transaction.Commit();
}

Status IndexUpdater::SyncAll(const std::vector<std::string>& names, bool commit_often) {
  progress_now_.ops_done = 0;
  progress_now_.ops_total = names.size();
  size_t next = 0;
  while (next < names.size()) {
    Transaction transaction(store_.database());
    if (commit_often) KERF_RETURN_IF_ERROR(transaction.Begin());
    const int64_t begin = clock_.MonotonicNanos();
    do {
      const Status synced = Sync(names[next]);
      // A folder that was removed meanwhile, or that we may not read, has nothing to find; the rest
      // has.
      if (!synced.ok() && !MaySkip(synced.error())) return synced.error();
      if (!synced.ok()) NoteSkipped(names[next], synced.error().message);
      progress_now_.ops_done = ++next;
      if (on_progress_) on_progress_(progress_now_);
    } while (next < names.size() &&
             (!commit_often || clock_.MonotonicNanos() - begin < kCommitEveryNs));
    if (commit_often) KERF_RETURN_IF_ERROR(transaction.Commit());
  }
  return {};
}

Status IndexUpdater::Sync(const std::string& name) {
  // Now that nobody else writes: another process may have done this one.
  KERF_ASSIGN_OR_RETURN(const OpState known, store_.LoadOp(name));
  KERF_ASSIGN_OR_RETURN(const OpState seen, watch_.Observe(name));
  switch (everything_changed_ ? RunChange::kFull : Compare(known, seen)) {
    case RunChange::kNone:
      return {};
    case RunChange::kTail:
      return SyncTail(known, seen);
    case RunChange::kFull:
      return SyncFull(known, seen);
  }
  return {};
}

Status IndexUpdater::SyncTail(const OpState& known, OpState seen) {
  const std::string dir = JoinPath(run_path_, known.name);
  Result<JournalTail> tail = ReadJournalTail(fs_, dir, known.mark);
  if (!tail.ok() && tail.error().code == ErrorCode::kCorrupt) return SyncFull(known, seen);
  if (!tail.ok()) return tail.error();
  KERF_ASSIGN_OR_RETURN(std::vector<IndexedRow> existing, store_.ProvisionalRows(known.id));
  std::set<int64_t> ids;
  for (const IndexedRow& row : existing) ids.insert(row.id);
  std::vector<NewRow> wanted;
  for (const TailStep& one : tail->steps) {
    wanted.push_back(MakeRow(one.step, !one.settled));
    KERF_ASSIGN_OR_RETURN(const std::vector<IndexedRow> here, store_.RowsAt(known.id, one.step));
    for (const IndexedRow& row : here) {
      if (ids.insert(row.id).second) existing.push_back(row);
    }
  }
  seen.id = known.id;
  seen.mark = tail->mark;
  return Replace(seen, existing, wanted);
}

Status IndexUpdater::SyncFull(const OpState& known, OpState seen) {
  // The tail first: what ReadOp then sees in addition counts as not settled.
  std::unordered_set<uint64_t> settled;
  if (seen.has_journal) {
    const std::string dir = JoinPath(run_path_, seen.name);
    const Result<JournalTail> tail = ReadJournalTail(fs_, dir, {});
    if (tail.ok()) {
      seen.mark = tail->mark;
      for (const TailStep& one : tail->steps) {
        if (one.settled) settled.insert(MakeRow(one.step, false).signature);
      }
    } else if (IsThere(fs_, dir)) {
      // As the reader does: what the files tell is found.
      skipped_.emplace_back(JoinPath(dir, kJournalName), tail.error().message);
      seen.folder_stamp = 0;
    }
  }
  KERF_ASSIGN_OR_RETURN(OpTrace op, ReadOp(fs_, run_path_, seen.name));
  std::vector<NewRow> wanted;
  for (TaskSteps& task : op.tasks) {
    for (Step& step : task.steps) {
      if (!step.journaled) {
        ++seen.unjournaled_steps;
        if (!CompleteFromFiles(op.dir, step)) seen.folder_stamp = 0;
      }
      NewRow row = MakeRow(step, false);
      row.provisional = step.journaled && !settled.contains(row.signature);
      wanted.push_back(row);
    }
  }
  seen.id = known.id;
  KERF_ASSIGN_OR_RETURN(const std::vector<IndexedRow> existing, store_.Rows(known.id));
  return Replace(seen, existing, wanted);
}

NewRow IndexUpdater::MakeRow(const Step& step, bool provisional) {
  NewRow row{&step, 0, Xxh3(Describe(step)), provisional};
  if (const std::optional<int64_t> time = ParseUtc(step.time)) row.time_us = *time / 1000;
  return row;
}

bool IndexUpdater::CompleteFromFiles(const std::string& op_dir, Step& step) {
  int64_t newest = 0;
  for (StepFile& file : step.files) {
    const Result<std::optional<FileInfo>> info = fs_.Stat(JoinPath(op_dir, file.name));
    if (!info.ok() || !info->has_value()) continue;
    file.bytes = (*info)->size;
    // In place of the hash that a journal would give.
    file.sha256 = std::to_string((*info)->mtime_ns);
    newest = std::max(newest, (*info)->mtime_ns);
  }
  if (step.time.empty() && newest > 0) step.time = FormatUtc(newest);
  return clock_.WallNanos() - newest >= kCoarsestTimeNs;
}

Status IndexUpdater::Replace(OpState& op, const std::vector<IndexedRow>& existing,
                             const std::vector<NewRow>& wanted) {
  KERF_RETURN_IF_ERROR(store_.SaveOp(op));
  std::unordered_multimap<uint64_t, const NewRow*> missing;
  for (const NewRow& row : wanted) missing.emplace(row.signature, &row);
  for (const IndexedRow& row : existing) {
    const auto same = missing.find(row.signature);
    if (same == missing.end()) {
      KERF_RETURN_IF_ERROR(store_.Remove(row.id));
      ++removed_;
      continue;
    }
    if (same->second->provisional != row.provisional) {
      KERF_RETURN_IF_ERROR(store_.SetProvisional(row.id, same->second->provisional));
    }
    missing.erase(same);
  }
  std::vector<NewRow> added;
  for (const NewRow& row : wanted) {
    const auto [first, last] = missing.equal_range(row.signature);
    if (std::any_of(first, last, [&](const auto& entry) { return entry.second == &row; })) {
      added.push_back(row);
    }
  }
  const std::string dir = JoinPath(run_path_, op.name);
  bool may_be_read_later = false;
  KERF_RETURN_IF_ERROR(store_.AddAll(op, std::move(added), [&](NewRow& row) {
    std::vector<std::string> names;
    for (const StepFile& file : row.step->files) names.push_back(file.name);
    IndexStore::PartTexts texts;
    for (const Part part : kAllParts) {
      PartText read = ReadPart(fs_, dir, names, part);
      texts[static_cast<size_t>(part)] = std::move(read.text);
      if (!read.failure.has_value()) continue;
      ++unread_;
      row.signature = kIncomplete;
      may_be_read_later = may_be_read_later || read.failure->code != ErrorCode::kNotFound;
    }
    ++progress_now_.steps_added;
    if (on_progress_ && progress_now_.steps_added % 256 == 0) on_progress_(progress_now_);
    return texts;
  }));
  if (!may_be_read_later) return {};
  // Permissions change without a trace in the folder's time: look again every time.
  op.folder_stamp = 0;
  return store_.SaveOp(op);
}

}  // namespace kerf::trace
