// The Recorder's half that makes a batch durable: lines, files, commits, and the order in which
// they reach the device (docs/formats/trace.md, "Why this order").
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>

#include "base/hash.h"
#include "trace/recorder.h"
#include "trace/recorder_batch.h"

namespace kerf::trace {
namespace {

// Up to this many files are synced one by one; beyond it one sync of the whole file system is
// cheaper.
constexpr size_t kFewFiles = 32;
// Threads for that; a record has three files and a folder.
constexpr size_t kMaxFewSyncers = 8;

// Whether the result is there, or no thread was asked for it and the one who wants it makes it.
bool IsReady(const std::shared_future<Status>& future) {
  return future.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

// Whether it is done by now; never waits, nor does a job that waits for somebody to ask.
bool WentWell(const std::shared_future<Status>& job) {
  if (!job.valid()) return true;
  return job.wait_for(std::chrono::seconds(0)) == std::future_status::ready && job.get().ok();
}

size_t CountFiles(const auto& placed) {
  size_t count = 0;
  for (const auto& one : placed) count += one.files.size();
  return count;
}

}  // namespace

Status Recorder::AppendRecords(std::vector<Placed>& placed) {
  std::map<Journal*, std::vector<JournalLine>> lines_of;
  for (Placed& one : placed) lines_of[one.task->journal.get()].push_back(one.line);
  for (auto& [journal, lines] : lines_of) {
    KERF_RETURN_IF_ERROR(journal->Append(std::move(lines)));
  }
  return {};
}

// Runs where lines are synced only: others would take the point's errors away from it.
Status Recorder::SyncLinesOf(const std::vector<Journal*>& journals) {
  return journals.size() > kFewFiles ? lines_point_->Sync() : SyncJournals(journals);
}

Status Recorder::SyncJournals(const std::vector<Journal*>& journals) {
  if (journals.size() > 1) {
    for (Journal* journal : journals) journal->StartSync();
  }
  for (Journal* journal : journals) KERF_RETURN_IF_ERROR(journal->Sync());
  return {};
}

Status Recorder::MakeFolders(Batch& batch) {
  for (Placed& one : batch.placed) {
    for (const Target& target : one.files) {
      if (target.folder == one.task->op_dir || folders_made_.contains(target.folder)) continue;
      KERF_RETURN_IF_ERROR(fs_.CreateDir(target.folder));
      folders_made_.insert(target.folder);
    }
  }
  return {};
}

Status Recorder::WriteFew(Batch& batch) {
  for (Placed& one : batch.placed) {
    for (Target& target : one.files) {
      KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, WriteFile(target));
      file->StartSync();
      batch.open.push_back(std::move(file));
      batch.folders.insert(target.folder);
    }
  }
  return {};
}

Status Recorder::WriteMany(Batch& batch) {
  std::vector<Target*> targets;
  for (Placed& one : batch.placed) {
    for (Target& target : one.files) targets.push_back(&target);
  }
  KERF_RETURN_IF_ERROR(WriteTogether(targets));
  LetGoOfTexts(batch);
  return {};
}

Status Recorder::WriteTogether(const std::vector<Target*>& targets) {
  std::atomic<size_t> next = 0;
  const auto write_some = [&]() -> Status {
    for (size_t i = next++; i < targets.size(); i = next++) {
      const Result<std::unique_ptr<File>> written = WriteFile(*targets[i]);
      if (written.ok()) continue;
      next = targets.size();  // for the others too
      return written.error();
    }
    return {};
  };
  std::vector<std::shared_future<Status>> others;
  for (const std::unique_ptr<Worker>& helper : helpers_) others.push_back(helper->Do(write_some));
  Status status = write_some();
  for (const std::shared_future<Status>& other : others) {
    if (status.ok()) status = other.get();
    other.wait();
  }
  return status;
}

// The files have the texts now. Their memory is used again before it has left the caches, which it
// would not while it waits for the device.
void Recorder::LetGoOfTexts(Batch& batch) {
  batch.texts_are_in_files = true;
  for (Submission& submission : batch.submissions) {
    for (PreparedFile& file : submission.record.files) file.content = Text();
    submission.record.keeps.reset();
  }
}

Result<std::unique_ptr<File>> Recorder::WriteFile(Target& target) {
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, fs_.OpenNew(target.path));
  target.created = true;
  KERF_RETURN_IF_ERROR(file->Write(target.content));
  return file;
}

Status Recorder::Write(Batch& batch) {
  std::map<Task*, std::string> batch_of;
  for (Placed& one : batch.placed) {
    std::string& id = batch_of[one.task];
    if (id.empty()) id = Hex64(ids_.Next());
    one.line.batch = id;
  }
  KERF_RETURN_IF_ERROR(MakeFolders(batch));
  KERF_RETURN_IF_ERROR(AppendRecords(batch.placed));
  if (!batch.more && CountFiles(batch.placed) <= kFewFiles) {
    for (Journal* journal : JournalsOf(batch)) journal->StartSync();
    return WriteFew(batch);
  }
  SyncLines(batch);
  if (!options_.overlap) {
    KERF_RETURN_IF_ERROR(WriteMany(batch));
  } else {
    // Batches that wait for the writer hold their texts, so there are at most two.
    if (begun_.size() > 2 && begun_[begun_.size() - 3]->written.valid()) {
      begun_[begun_.size() - 3]->written.wait();
    }
    batch.written = writer_.Do([&batch, this] { return WriteMany(batch); });
  }
  const ToSync own{++last_number_, batch.written, batch.lines_synced};
  {
    const std::lock_guard lock(sync_mu_);
    to_sync_.push_back(own);
  }
  batch.synced = Later(syncer_, [this, own] { return SyncThrough(own); });
  return {};
}

// Brings one batch to the device, and with it those after it that are written by now.
Status Recorder::SyncThrough(const ToSync& own) {
  if (own.written.valid()) KERF_RETURN_IF_ERROR(own.written.get());
  // The lines before the files: a file that outlives a power failure then has its line.
  KERF_RETURN_IF_ERROR(own.lines_synced.get());
  if (synced_through_ >= own.number) return {};
  int64_t last = own.number;
  {
    const std::lock_guard lock(sync_mu_);
    while (!to_sync_.empty() && to_sync_.front().number <= own.number) to_sync_.pop_front();
    for (const ToSync& later : to_sync_) {
      if (!WentWell(later.written) || !WentWell(later.lines_synced)) break;
      last = later.number;
    }
  }
  KERF_RETURN_IF_ERROR(files_point_->Sync());
  synced_through_ = last;
  return {};
}

// The commits of the batch before go along: one wait less.
void Recorder::SyncLines(Batch& batch) {
  std::vector<Journal*> journals = JournalsOf(batch);
  Batch* const first = begun_.empty() ? nullptr : begun_.front();
  const bool takes_along = first != nullptr && first->sealed && !first->commits_synced.valid();
  if (takes_along) {
    for (Journal* journal : first->committed) {
      if (std::find(journals.begin(), journals.end(), journal) == journals.end()) {
        journals.push_back(journal);
      }
    }
  }
  batch.lines_synced =
      Later(line_syncer_, [this, journals = std::move(journals)] { return SyncLinesOf(journals); });
  if (takes_along) first->commits_synced = batch.lines_synced;
}

std::shared_future<Status> Recorder::Later(Worker& worker, std::function<Status()> job) {
  if (options_.overlap) return worker.Do(std::move(job));
  return std::async(std::launch::deferred, std::move(job)).share();
}

std::vector<Journal*> Recorder::JournalsOf(const Batch& batch) {
  std::set<Journal*> journals;
  for (const Placed& one : batch.placed) journals.insert(one.task->journal.get());
  return {journals.begin(), journals.end()};
}

bool Recorder::IsSynced(const Batch& batch) {
  return batch.settled || !batch.status.ok() || !batch.synced.valid() || IsReady(batch.synced);
}

bool Recorder::IsDone(const Batch& batch) {
  if (batch.settled || !batch.status.ok() || !batch.synced.valid()) return true;
  return batch.sealed && batch.commits_synced.valid() && IsReady(batch.commits_synced);
}

Status Recorder::SyncFiles(Batch& batch) {
  if (batch.synced.valid()) return batch.synced.get();
  // As for large batches: the lines before the files.
  KERF_RETURN_IF_ERROR(SyncJournals(JournalsOf(batch)));
  // Side by side where threads are allowed: the device then empties its cache once for all of them,
  // not once for each.
  std::vector<std::shared_future<Status>> syncs;
  const auto sync = [&](std::function<Status()> job) {
    if (few_syncers_.size() < kMaxFewSyncers) few_syncers_.push_back(std::make_unique<Worker>());
    syncs.push_back(Later(*few_syncers_[syncs.size() % kMaxFewSyncers], std::move(job)));
  };
  for (const std::unique_ptr<File>& file : batch.open) {
    sync([&file] { return file->Sync(); });
  }
  for (const std::string& folder : batch.folders) {
    sync([this, &folder] { return fs_.SyncDir(folder); });
  }
  Status synced;
  for (const std::shared_future<Status>& one : syncs) {
    if (const Status status = one.get(); synced.ok()) synced = status;
  }
  batch.open.clear();
  return synced;
}

// Every journal for itself: once its commits are written, its records count, whatever happens to
// the others.
void Recorder::AppendCommits(Batch& batch) {
  batch.sealed = true;
  for (const auto& [journal, group] : batch.ByJournal()) {
    std::set<std::string> batches;
    std::vector<JournalLine> lines;
    for (const Placed* one : group) {
      if (!batches.insert(one->line.batch).second) continue;
      lines.emplace_back().kind = LineKind::kCommit;
      lines.back().batch = one->line.batch;
    }
    const Status appended = journal->Append(std::move(lines));
    if (appended.ok()) batch.committed.push_back(journal);
    for (Placed* one : group) {
      one->status = appended;
      one->taken_back = !appended.ok();
    }
  }
}

void Recorder::SyncCommits(Batch& batch) {
  const Status synced =
      batch.commits_synced.valid() ? batch.commits_synced.get() : SyncJournals(batch.committed);
  std::map<Journal*, std::vector<Placed*>> placed_of = batch.ByJournal();
  for (Journal* journal : batch.committed) {
    Status status = synced;
    // An open file can be written after its folder was removed; what nobody can find again is not
    // recorded.
    if (status.ok() && !journal->IsStillThere()) {
      status = WasRemoved(ParentPath(journal->path()));
    }
    std::map<std::string, bool> abandoned;
    for (Placed* one : placed_of[journal]) {
      one->status = status;
      if (synced.ok()) continue;
      // The commit may or may not reach the device. Only when the journal itself says that it does
      // not count may the files go.
      const auto [done, is_new] = abandoned.try_emplace(one->line.batch, false);
      if (is_new) done->second = journal->Abandon(one->line.batch);
      one->taken_back = done->second;
    }
  }
}

void Recorder::SealFirst() {
  if (begun_.empty()) return;
  Batch& first = *begun_.front();
  const bool on_the_device = first.status.ok() && first.synced.valid() && IsReady(first.synced);
  if (!first.sealed && on_the_device && first.synced.get().ok()) AppendCommits(first);
}

void Recorder::Commit(Batch& batch) {
  if (!batch.sealed) {
    const Status synced = SyncFiles(batch);
    if (!synced.ok()) {
      for (Placed& one : batch.placed) {
        one.status = synced;
        one.taken_back = true;
      }
      return;
    }
    AppendCommits(batch);
  }
  SyncCommits(batch);
}

}  // namespace kerf::trace
