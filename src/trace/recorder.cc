#include "trace/recorder.h"

#include <algorithm>

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
};

// A submission with its step number, file names and journal line.
struct Recorder::Placed {
  struct Target {
    std::string path;
    std::string folder;
    const std::string* content = nullptr;  // owned by the submission
  };
  Task* task = nullptr;
  JournalLine line;
  std::vector<Target> files;
  Recorded recorded;
};

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

void Recorder::CloseOldest() {
  const Task& oldest = tasks_.back();
  Close(oldest.op, oldest.task);
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
  Task opened{op, task, JoinPath(options_.log_dir, op), nullptr, nullptr, {}};
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
    placed.files.push_back({JoinPath(task->op_dir, name), std::move(folder), &file.content});
    placed.recorded.files.push_back(submission.op + "/" + name);
    step.files.push_back({std::move(name), file.content.size(), file.sha256, file.encoding});
  }
  placed.recorded.op = submission.op;
  placed.recorded.task = submission.task;
  placed.recorded.step = step.step;
  return placed;
}

Status Recorder::AppendLines(std::vector<Placed>& placed, LineKind kind) {
  std::map<Journal*, std::vector<JournalLine>> lines_of;
  std::set<std::string> batches;
  for (Placed& one : placed) {
    if (kind == LineKind::kRecord) {
      lines_of[one.task->journal.get()].push_back(one.line);
    } else if (batches.insert(one.line.batch).second) {
      JournalLine commit;
      commit.kind = kind;
      commit.batch = one.line.batch;
      lines_of[one.task->journal.get()].push_back(std::move(commit));
    }
  }
  for (auto& [journal, lines] : lines_of) KERF_RETURN_IF_ERROR(journal->Append(lines));
  return SyncJournals(placed);
}

Status Recorder::SyncJournals(const std::vector<Placed>& placed) {
  std::set<Journal*> journals;
  for (const Placed& one : placed) journals.insert(one.task->journal.get());
  if (journals.size() > kFewFiles) return fs_.SyncAll(options_.log_dir);
  if (journals.size() > 1) {
    for (Journal* journal : journals) journal->StartSync();
  }
  for (Journal* journal : journals) KERF_RETURN_IF_ERROR(journal->Sync());
  return {};
}

Status Recorder::WriteFiles(std::vector<Placed>& placed, std::vector<std::string>& created) {
  const bool one_by_one = CountFiles(placed) <= kFewFiles;
  std::vector<std::unique_ptr<File>> open;
  std::set<std::string> folders;
  for (const Placed& one : placed) {
    for (const Placed::Target& target : one.files) {
      if (target.folder != one.task->op_dir && folders_made_.insert(target.folder).second) {
        KERF_RETURN_IF_ERROR(fs_.CreateDir(target.folder));
      }
      KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, fs_.OpenNew(target.path));
      created.push_back(target.path);
      KERF_RETURN_IF_ERROR(file->Write(*target.content));
      if (one_by_one) {
        file->StartSync();
        open.push_back(std::move(file));
        folders.insert(target.folder);
      }
    }
  }
  if (!one_by_one) return fs_.SyncAll(options_.log_dir);
  for (const std::unique_ptr<File>& file : open) KERF_RETURN_IF_ERROR(file->Sync());
  for (const std::string& folder : folders) KERF_RETURN_IF_ERROR(fs_.SyncDir(folder));
  return {};
}

Status Recorder::Commit(std::vector<Placed>& placed) {
  std::map<Task*, std::string> batch_of;
  for (Placed& one : placed) {
    std::string& batch = batch_of[one.task];
    if (batch.empty()) batch = Hex64(ids_.Next());
    one.line.batch = batch;
  }
  std::vector<std::string> created;
  Status done = AppendLines(placed, LineKind::kRecord);
  if (done.ok()) done = WriteFiles(placed, created);
  if (done.ok()) done = AppendLines(placed, LineKind::kCommit);
  for (const Placed& one : placed) {
    // An open file can be written after its folder was removed; what nobody can find again is not
    // recorded.
    if (done.ok() && !one.task->journal->IsStillThere()) {
      done = NotFound(one.task->op_dir +
                      " was removed or replaced while recording; nothing more is recorded there, "
                      "start again with a new log directory");
    }
  }
  if (!done.ok()) RollBack(placed, created);
  return done;
}

void Recorder::RollBack(std::vector<Placed>& placed, const std::vector<std::string>& created) {
  for (const std::string& path : created) (void)fs_.Remove(path);
  std::map<std::string, Journal*> batches;
  for (const Placed& one : placed) batches[one.line.batch] = one.task->journal.get();
  for (const auto& [batch, journal] : batches) journal->Abandon(batch);
  // Numbers were taken before the lines were written; give them back where no line did.
  for (auto one = placed.rbegin(); one != placed.rend(); ++one) {
    TaskState& state = one->task->journal->StateOf(one->task->task);
    const Step& step = one->line.step;
    if (step.kind == RecordKind::kConductor) {
      int64_t& attempts = state.attempts[{step.step, step.check}];
      attempts = std::min(attempts, step.attempt - 1);
    } else {
      state.last_step = std::min(state.last_step, step.step - 1);
    }
  }
}

Result<Recorded> Recorder::Record(const std::string& op, const std::string& task,
                                  PreparedRecord record) {
  Submission submission{op, task, std::move(record)};
  KERF_ASSIGN_OR_RETURN(Placed placed, Place(submission));
  std::vector<Placed> batch;
  batch.push_back(std::move(placed));
  KERF_RETURN_IF_ERROR(Commit(batch));
  Recorded recorded = std::move(batch[0].recorded);
  if (tasks_.size() > options_.max_open_tasks) CloseOldest();
  return recorded;
}

std::vector<Result<Recorded>> Recorder::RecordAll(std::vector<Submission> submissions) {
  std::vector<Result<Recorded>> results(submissions.size(), Result<Recorded>(Recorded{}));
  std::vector<Placed> placed;
  std::vector<size_t> index_of;
  const auto commit = [&] {
    Status done = Commit(placed);
    for (size_t i = 0; i < placed.size(); ++i) {
      const size_t index = index_of[i];
      if (done.ok()) {
        results[index] = std::move(placed[i].recorded);
      } else {
        // Find out which ones cannot be recorded by trying each alone.
        Submission& submission = submissions[index];
        submission.record.redacted = placed[i].line.step.redacted;
        submission.record.meta = placed[i].line.step.meta;
        submission.record.reply_frame = placed[i].line.step.reply_frame;
        results[index] = Record(submission.op, submission.task, std::move(submission.record));
      }
    }
    placed.clear();
    index_of.clear();
    while (tasks_.size() > options_.max_open_tasks) CloseOldest();
  };
  for (size_t i = 0; i < submissions.size(); ++i) {
    // Tasks of the batch must stay open until it is committed.
    if (tasks_.size() >= options_.max_open_tasks && !placed.empty()) commit();
    Result<Placed> one = Place(submissions[i]);
    if (!one.ok()) {
      results[i] = std::move(one).error();
      continue;
    }
    placed.push_back(std::move(*one));
    index_of.push_back(i);
  }
  if (!placed.empty()) commit();
  return results;
}

}  // namespace kerf::trace
