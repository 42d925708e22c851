#include "trace/recorder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>

#include "base/hash.h"
#include "trace/recovery.h"

namespace kerf::trace {
namespace {

// Up to this many files are synced one by one; beyond it one sync of the whole file system is
// cheaper.
constexpr size_t kFewFiles = 32;

std::string LockPath(const std::string& log_dir, const std::string& op, const std::string& task) {
  std::string key = op;
  key += '\0';
  key += task;
  return JoinPath(log_dir, std::string(kPrivateFolder) + "/locks/" + Hex64(Xxh3(key)) + ".lock");
}

// Whether a record failed because a file of its name was there already.
bool NameWasTaken(const Error& error) { return error.code == ErrorCode::kUnavailable; }
bool NameWasTaken(const Status& status) { return !status.ok() && NameWasTaken(status.error()); }

// Whether the result is there, or no thread was asked for it and the one who wants it makes it.
bool IsReady(const std::shared_future<Status>& future) {
  return future.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

size_t CountFiles(const auto& placed) {
  size_t count = 0;
  for (const auto& one : placed) count += one.files.size();
  return count;
}

}  // namespace

struct Recorder::Task {
  std::string op;
  std::string task;
  std::string op_dir;
  std::unique_ptr<FileLock> lock;
  std::shared_ptr<Journal> journal;
  RecoveryReport recovery;
  int batches = 0;  // begun and not finished
};

struct Recorder::Target {
  std::string path;
  std::string folder;
  std::string_view content;  // the submission keeps it
  bool created = false;
};

// A submission with its step number, file names and journal line.
struct Recorder::Placed {
  Task* task = nullptr;
  JournalLine line;
  std::vector<Target> files;
  Recorded recorded;
  // After the batch was finished: what went wrong, and whether another try makes sense.
  Status status;
  bool taken_back = false;
};

class Recorder::Batch {
 public:
  std::map<Journal*, std::vector<Placed*>> ByJournal() {
    std::map<Journal*, std::vector<Placed*>> groups;
    for (Placed& one : placed) groups[one.task->journal.get()].push_back(&one);
    return groups;
  }

  std::deque<Submission> submissions;  // a deque: Placed points into it
  std::vector<Result<Recorded>> results;
  std::vector<Placed> placed;
  std::vector<size_t> index_of;             // of placed, in submissions
  std::vector<std::unique_ptr<File>> open;  // a few files, to be synced one by one
  std::set<std::string> folders;
  // Of a large batch: the lines, then everything; and the commits, with the lines of a later one.
  std::shared_future<Status> lines_synced;
  std::shared_future<Status> synced;
  std::shared_future<Status> commits_synced;
  bool sealed = false;              // the commits are written
  std::vector<Journal*> committed;  // where that went well
  Status status;                    // what went wrong before any commit was written
  bool collateral = false;          // it went wrong in an earlier batch
};

void Recorder::BatchDeleter::operator()(Batch* batch) const { delete batch; }

Recorder::Recorder(FileSystem& fs, Clock& clock, IdSource& ids, Options options)
    : fs_(fs), clock_(clock), ids_(ids), options_(std::move(options)) {}

Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::Open(FileSystem& fs, Clock& clock, IdSource& ids,
                                                 Options options) {
  if (options.log_dir.empty()) return InvalidInput("the log directory is not given");
  options.log_dir = ExpandHome(options.log_dir);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(options.log_dir));
  const std::string own = JoinPath(options.log_dir, kPrivateFolder);
  KERF_RETURN_IF_ERROR(fs.CreateDir(own));
  KERF_RETURN_IF_ERROR(fs.CreateDir(JoinPath(own, "locks")));
  return std::unique_ptr<Recorder>(new Recorder(fs, clock, ids, std::move(options)));
}

Result<std::shared_ptr<Journal>> Recorder::OpenJournal(const std::string& op) {
  std::weak_ptr<Journal>& known = journals_[op];
  if (std::shared_ptr<Journal> journal = known.lock()) {
    KERF_RETURN_IF_ERROR(journal->Refresh());
    return journal;
  }
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<Journal> opened,
                        Journal::Open(fs_, JoinPath(options_.log_dir, op)));
  std::shared_ptr<Journal> journal = std::move(opened);
  known = journal;
  return journal;
}

bool Recorder::MakeRoom() {
  for (auto task = tasks_.end();
       tasks_.size() >= options_.max_open_tasks && task != tasks_.begin();) {
    --task;
    if (task->batches > 0) continue;
    task_of_.erase({task->op, task->task});
    task = tasks_.erase(task);
  }
  return tasks_.size() < options_.max_open_tasks;
}

void Recorder::Close(const std::string& op, const std::string& task) {
  const auto found = task_of_.find({op, task});
  if (found == task_of_.end()) return;
  tasks_.erase(found->second);
  task_of_.erase(found);
}

Result<Recorder::Task*> Recorder::OpenTask(const std::string& op, const std::string& task) {
  const auto found = task_of_.find({op, task});
  if (found != task_of_.end()) {
    tasks_.splice(tasks_.begin(), tasks_, found->second);
    return &tasks_.front();
  }
  KERF_RETURN_IF_ERROR(CheckNames(options_.log_dir, op, task));
  Task opened{op, task, JoinPath(options_.log_dir, op), nullptr, nullptr, {}, 0};
  Result<std::unique_ptr<FileLock>> lock =
      fs_.TryLock(LockPath(options_.log_dir, op, task), options_.owner);
  if (!lock.ok() && lock.error().code == ErrorCode::kUnavailable) {
    return Unavailable("task '" + task + "' of '" + op + "' in " + options_.log_dir +
                       " is being recorded by " + lock.error().message +
                       "; wait for it or use another task id");
  }
  if (!lock.ok()) return std::move(lock).error();
  opened.lock = std::move(*lock);
  KERF_RETURN_IF_ERROR(fs_.CreateDir(opened.op_dir));
  KERF_ASSIGN_OR_RETURN(opened.journal, OpenJournal(op));
  KERF_ASSIGN_OR_RETURN(opened.recovery,
                        RecoverTask(fs_, ids_, *opened.journal, opened.op_dir, task));
  tasks_.push_front(std::move(opened));
  task_of_[{op, task}] = tasks_.begin();
  return &tasks_.front();
}

Result<RecoveryReport> Recorder::Recover(const std::string& op, const std::string& task) {
  KERF_ASSIGN_OR_RETURN(const Task* opened, OpenTask(op, task));
  return opened->recovery;
}

Result<int64_t> Recorder::LastStep(const std::string& op, const std::string& task) {
  KERF_ASSIGN_OR_RETURN(Task * opened, OpenTask(op, task));
  return opened->journal->StateOf(task).last_step;
}

Result<Recorder::Placed> Recorder::Place(Submission& submission) {
  KERF_ASSIGN_OR_RETURN(Task * task, OpenTask(submission.op, submission.task));
  TaskState& state = task->journal->StateOf(submission.task);
  PreparedRecord& record = submission.record;
  Placed placed;
  placed.task = task;
  Step& step = placed.line.step;
  step.task = submission.task;
  step.kind = record.kind;
  step.action = ActionName(record.action);
  step.names = NamesWord(options_.names);
  step.time = FormatUtc(clock_.WallNanos());
  step.redacted = std::move(record.redacted);
  step.meta = std::move(record.meta);
  step.reply_frame = std::move(record.reply_frame);
  placed.line.verify_res = record.verify_res;
  std::string word = ActionWord(options_.names, record.kind, record.action);
  // Taken now, so that further records of this batch follow; a failed batch gives the numbers back.
  if (record.kind == RecordKind::kConductor) {
    step.check = ConductorCheck(record.action);
    step.attempt = ++state.attempts[{state.last_step, step.check}];
    if (step.attempt > 1) word += "_" + std::to_string(step.attempt);
  } else {
    ++state.last_step;
  }
  step.step = state.last_step;

  const std::string prefix =
      FilePrefix(options_.names, submission.op, submission.task, step.step, word);
  for (const PreparedFile& file : record.files) {
    std::string name = prefix + file.parameter + file.extension;
    std::string folder = task->op_dir;
    if (*file.folder != '\0') {
      name = std::string(file.folder) + "/" + name;
      folder = JoinPath(folder, file.folder);
    }
    placed.files.push_back(
        {JoinPath(task->op_dir, name), std::move(folder), file.content.view(), false});
    placed.recorded.files.push_back(submission.op + "/" + name);
    step.files.push_back({std::move(name), file.content.size(), file.sha256, file.encoding});
  }
  placed.recorded.op = submission.op;
  placed.recorded.task = submission.task;
  placed.recorded.step = step.step;
  return placed;
}

Status Recorder::AppendRecords(std::vector<Placed>& placed) {
  std::map<Journal*, std::vector<JournalLine>> lines_of;
  for (Placed& one : placed) lines_of[one.task->journal.get()].push_back(one.line);
  for (auto& [journal, lines] : lines_of) {
    KERF_RETURN_IF_ERROR(journal->Append(lines));
    journal->StartSync();
  }
  return {};
}

Status Recorder::SyncJournals(const std::vector<Journal*>& journals) {
  if (journals.size() > kFewFiles) return fs_.SyncAll(options_.log_dir);
  if (journals.size() > 1) {
    for (Journal* journal : journals) journal->StartSync();
  }
  for (Journal* journal : journals) KERF_RETURN_IF_ERROR(journal->Sync());
  return {};
}

Status Recorder::WriteFiles(Batch& batch) {
  std::vector<Target*> targets;
  for (Placed& one : batch.placed) {
    for (Target& target : one.files) {
      targets.push_back(&target);
      if (target.folder != one.task->op_dir && folders_made_.insert(target.folder).second) {
        KERF_RETURN_IF_ERROR(fs_.CreateDir(target.folder));
      }
    }
  }
  return targets.size() <= kFewFiles ? WriteFew(batch, targets) : WriteMany(targets);
}

Status Recorder::WriteFew(Batch& batch, const std::vector<Target*>& targets) {
  for (Target* target : targets) {
    KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, WriteFile(*target));
    file->StartSync();
    batch.open.push_back(std::move(file));
    batch.folders.insert(target->folder);
  }
  return {};
}

// Writing takes longer than all that is done before it, so a second thread takes every other file
// or so where threads are allowed.
Status Recorder::WriteMany(const std::vector<Target*>& targets) {
  std::atomic<size_t> next = 0;
  const auto write_some = [&]() -> Status {
    for (size_t i = next++; i < targets.size(); i = next++) {
      const Result<std::unique_ptr<File>> file = WriteFile(*targets[i]);
      if (file.ok()) continue;
      next = targets.size();
      return file.error();
    }
    return {};
  };
  std::future<Status> other;
  if (options_.overlap) other = std::async(std::launch::async, write_some);
  Status written = write_some();
  if (other.valid()) {
    Status second = other.get();
    if (written.ok()) written = std::move(second);
  }
  return written;
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
  KERF_RETURN_IF_ERROR(AppendRecords(batch.placed));
  const size_t files = CountFiles(batch.placed);
  if (files > kFewFiles) SyncLines(batch);
  KERF_RETURN_IF_ERROR(WriteFiles(batch));
  if (files > kFewFiles) {
    batch.synced = std::async(Policy(), [this, lines = batch.lines_synced]() -> Status {
                     // The lines before the files: a file that outlives a power failure then has
                     // its line.
                     KERF_RETURN_IF_ERROR(lines.get());
                     return fs_.SyncAll(options_.log_dir);
                   }).share();
  }
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
  batch.lines_synced = std::async(Policy(), [this, journals = std::move(journals)] {
                         return SyncJournals(journals);
                       }).share();
  if (takes_along) first->commits_synced = batch.lines_synced;
}

std::launch Recorder::Policy() const {
  return options_.overlap ? std::launch::async : std::launch::deferred;
}

std::vector<Journal*> Recorder::JournalsOf(const Batch& batch) {
  std::set<Journal*> journals;
  for (const Placed& one : batch.placed) journals.insert(one.task->journal.get());
  return {journals.begin(), journals.end()};
}

bool Recorder::IsSynced(const Batch& batch) {
  return !batch.status.ok() || !batch.synced.valid() || IsReady(batch.synced);
}

bool Recorder::IsDone(const Batch& batch) {
  if (!batch.status.ok() || !batch.synced.valid()) return true;
  return batch.sealed && batch.commits_synced.valid() && IsReady(batch.commits_synced);
}

Status Recorder::SyncFiles(Batch& batch) {
  if (batch.synced.valid()) return batch.synced.get();
  // As for large batches: the lines before the files.
  KERF_RETURN_IF_ERROR(SyncJournals(JournalsOf(batch)));
  // Side by side where threads are allowed: the device then empties its cache once for all of them,
  // not once for each.
  const auto policy = Policy();
  std::vector<std::future<Status>> syncs;
  for (const std::unique_ptr<File>& file : batch.open) {
    syncs.push_back(std::async(policy, [&file] { return file->Sync(); }));
  }
  for (const std::string& folder : batch.folders) {
    syncs.push_back(std::async(policy, [this, &folder] { return fs_.SyncDir(folder); }));
  }
  Status synced;
  for (std::future<Status>& sync : syncs) {
    Status one = sync.get();
    if (synced.ok()) synced = std::move(one);
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
    const Status appended = journal->Append(lines);
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
      status = NotFound(ParentPath(journal->path()) +
                        " was removed or replaced while recording; nothing more is recorded there, "
                        "start again with a new log directory");
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

// Undoes the records that are marked, newest first.
void Recorder::TakeBack(Batch& batch) {
  for (const std::shared_future<Status>& sync : {batch.lines_synced, batch.synced}) {
    if (sync.valid()) sync.wait();
  }
  batch.open.clear();
  std::map<std::string, Journal*> journals;
  for (size_t i = batch.placed.size(); i-- > 0;) {
    Placed& one = batch.placed[i];
    if (!one.taken_back) continue;
    for (const Target& target : one.files) {
      if (target.created) (void)fs_.Remove(target.path);
    }
    if (journals.emplace(one.line.batch, one.task->journal.get()).second) {
      one.task->journal->Abandon(one.line.batch);
    }
    // Numbers were taken before the lines were written; give them back where no line did.
    TaskState& state = one.task->journal->StateOf(one.task->task);
    const Step& step = one.line.step;
    if (step.kind == RecordKind::kConductor) {
      int64_t& attempts = state.attempts[{step.step, step.check}];
      attempts = std::min(attempts, step.attempt - 1);
    } else {
      state.last_step = std::min(state.last_step, step.step - 1);
    }
    // What Place() took from the submission, for another try.
    PreparedRecord& record = batch.submissions[batch.index_of[i]].record;
    record.redacted = one.line.step.redacted;
    record.meta = one.line.step.meta;
    record.reply_frame = one.line.step.reply_frame;
  }
}

void Recorder::TakeBackAll(Batch& batch, const Status& why) {
  batch.status = why;
  for (Placed& one : batch.placed) {
    one.status = why;
    one.taken_back = true;
  }
  TakeBack(batch);
}

Recorder::BatchPtr Recorder::Begin(std::deque<Submission>& waiting) {
  BatchPtr batch(new Batch());
  while (!waiting.empty()) {
    // A batch keeps its tasks open; when no more can be opened it goes as it is.
    const bool is_open = task_of_.contains({waiting.front().op, waiting.front().task});
    if (!is_open && !MakeRoom() && !batch->placed.empty()) break;
    batch->submissions.push_back(std::move(waiting.front()));
    waiting.pop_front();
    Result<Placed> placed = Place(batch->submissions.back());
    if (!placed.ok()) {
      batch->results.emplace_back(std::move(placed).error());
      continue;
    }
    placed->task->batches += 1;
    batch->index_of.push_back(batch->results.size());
    batch->results.emplace_back(Recorded{});
    batch->placed.push_back(std::move(placed).value());
  }
  const Status written = Write(*batch);
  if (!written.ok()) TakeBackAll(*batch, written);
  begun_.push_back(batch.get());
  return batch;
}

std::vector<Result<Recorded>> Recorder::Finish(BatchPtr batch) {
  KERF_CHECK(!begun_.empty() && begun_.front() == batch.get(), "batches are finished in order");
  begun_.pop_front();
  if (batch->status.ok()) {
    Commit(*batch);
    const auto failed = std::find_if(batch->placed.begin(), batch->placed.end(),
                                     [](const Placed& one) { return one.taken_back; });
    if (failed != batch->placed.end()) {
      // Later batches carry step numbers that follow ours: they go first, newest first.
      for (auto later = begun_.rbegin(); later != begun_.rend(); ++later) {
        if ((*later)->status.ok()) TakeBackAll(**later, failed->status);
        (*later)->collateral = true;
      }
      TakeBack(*batch);
    }
  }
  for (Placed& one : batch->placed) one.task->batches -= 1;
  const bool is_single = batch->placed.size() == 1 && !batch->collateral;
  for (size_t i = 0; i < batch->placed.size(); ++i) {
    Placed& one = batch->placed[i];
    Result<Recorded>& result = batch->results[batch->index_of[i]];
    if (one.status.ok()) {
      result = std::move(one.recorded);
    } else if (one.taken_back && (!is_single || NameWasTaken(one.status))) {
      // Find out which ones cannot be recorded by trying each alone.
      result = RecordAlone(std::move(batch->submissions[batch->index_of[i]]));
    } else {
      result = one.status.error();
    }
  }
  return std::move(batch->results);
}

Result<Recorded> Recorder::RecordAlone(Submission submission) {
  MakeRoom();
  KERF_ASSIGN_OR_RETURN(Task * task, OpenTask(submission.op, submission.task));
  Result<Recorded> done = TryAlone(submission);
  if (done.ok() || !NameWasTaken(done.error())) return done;
  // Another program wrote a file of this task under our next step: take it in and go on after it.
  KERF_RETURN_IF_ERROR(task->journal->FindUnjournaled());
  KERF_RETURN_IF_ERROR(RecoverTask(fs_, ids_, *task->journal, task->op_dir, task->task));
  return TryAlone(submission);
}

Result<Recorded> Recorder::TryAlone(Submission& submission) {
  Batch batch;
  batch.submissions.push_back(std::move(submission));
  KERF_ASSIGN_OR_RETURN(Placed placed, Place(batch.submissions.back()));
  batch.index_of.push_back(0);
  batch.placed.push_back(std::move(placed));
  Placed& one = batch.placed[0];
  one.task->batches += 1;
  const Status written = Write(batch);
  if (written.ok()) {
    Commit(batch);
    TakeBack(batch);
  } else {
    TakeBackAll(batch, written);
  }
  one.task->batches -= 1;
  submission = std::move(batch.submissions[0]);  // for another try
  if (!one.status.ok()) return one.status.error();
  return std::move(one.recorded);
}

Result<Recorded> Recorder::Record(const std::string& op, const std::string& task,
                                  PreparedRecord record) {
  KERF_CHECK(begun_.empty(), "single records do not overtake a batch");
  return RecordAlone({op, task, std::move(record)});
}

std::vector<Result<Recorded>> Recorder::RecordAll(std::vector<Submission> submissions) {
  std::deque<Submission> waiting(std::make_move_iterator(submissions.begin()),
                                 std::make_move_iterator(submissions.end()));
  std::vector<Result<Recorded>> results;
  while (!waiting.empty()) {
    for (Result<Recorded>& result : Finish(Begin(waiting))) results.push_back(std::move(result));
  }
  return results;
}

}  // namespace kerf::trace
