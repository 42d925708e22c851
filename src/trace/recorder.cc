#include "trace/recorder.h"

#include <algorithm>

#include "base/hash.h"
#include "trace/recorder_batch.h"
#include "trace/recovery.h"

namespace kerf::trace {
namespace {

std::string LockPath(const std::string& log_dir, const std::string& op, const std::string& task) {
  std::string key = op;
  key += '\0';
  key += task;
  return JoinPath(log_dir, std::string(kPrivateFolder) + "/locks/" + Hex64(Xxh3(key)) + ".lock");
}

// Whether a record failed because a file of its name was there already.
bool NameWasTaken(const Error& error) { return error.code == ErrorCode::kUnavailable; }
bool NameWasTaken(const Status& status) { return !status.ok() && NameWasTaken(status.error()); }

}  // namespace

void Recorder::BatchDeleter::operator()(Batch* batch) const { delete batch; }

Recorder::Recorder(FileSystem& fs, Clock& clock, IdSource& ids, Options options)
    : fs_(fs), clock_(clock), ids_(ids), options_(std::move(options)) {
  while (helpers_.size() + 1 < options_.writers) helpers_.push_back(std::make_unique<Worker>());
}

Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::Open(FileSystem& fs, Clock& clock, IdSource& ids,
                                                 Options options) {
  if (options.log_dir.empty()) return InvalidInput("the log directory is not given");
  options.log_dir = ExpandHome(options.log_dir);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(options.log_dir));
  const std::string own = JoinPath(options.log_dir, kPrivateFolder);
  KERF_RETURN_IF_ERROR(fs.CreateDir(own));
  KERF_RETURN_IF_ERROR(fs.CreateDir(JoinPath(own, "locks")));
  // Made by somebody who ended before its name was on the device? Where that may not be asked for,
  // it is as good as it can be.
  (void)fs.SyncDir(ParentPath(options.log_dir));
  std::unique_ptr<Recorder> recorder(new Recorder(fs, clock, ids, std::move(options)));
  KERF_ASSIGN_OR_RETURN(recorder->files_point_, fs.OpenSyncPoint(recorder->log_dir()));
  KERF_ASSIGN_OR_RETURN(recorder->lines_point_, fs.OpenSyncPoint(recorder->log_dir()));
  return recorder;
}

Error Recorder::WasRemoved(const std::string& folder) {
  return NotFound(folder +
                  " was removed or replaced while recording; nothing more is recorded there, start "
                  "again with a new log directory");
}

// The error of a record that was not taken. A file that cannot be made because its folder is gone
// says only that: what has become of the folder is said here.
Error Recorder::WhyNot(const Placed& one) {
  const Error& error = one.status.error();
  const bool is_gone = error.code == ErrorCode::kNotFound && !one.task->journal->IsStillThere();
  return is_gone ? WasRemoved(one.task->op_dir) : error;
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
  if (!lock.ok() && lock.error().code == ErrorCode::kNotFound) return WasRemoved(options_.log_dir);
  if (!lock.ok()) return std::move(lock).error();
  opened.lock = std::move(*lock);
  if (!folders_made_.contains(opened.op_dir)) {
    KERF_RETURN_IF_ERROR(fs_.CreateDir(opened.op_dir));
    folders_made_.insert(opened.op_dir);
  }
  Result<std::shared_ptr<Journal>> journal = OpenJournal(op);
  if (!journal.ok()) {
    folders_made_.erase(opened.op_dir);  // perhaps it is gone
    return std::move(journal).error();
  }
  opened.journal = std::move(*journal);
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

// From the files they were written to, before these are removed; false when they are not as they
// were.
bool Recorder::TakeTextsBack(Batch& batch, size_t index) {
  const Placed& one = batch.placed[index];
  std::vector<PreparedFile>& files = batch.submissions[batch.index_of[index]].record.files;
  for (size_t i = 0; i < files.size(); ++i) {
    Result<std::string> bytes = fs_.ReadFile(one.files[i].path);
    if (!bytes.ok() || Sha256Hex(*bytes) != files[i].sha256) return false;
    files[i].content = std::move(*bytes);
  }
  return true;
}

// Undoes the records that are marked, newest first.
void Recorder::TakeBack(Batch& batch) {
  batch.Wait();
  batch.open.clear();
  std::map<std::string, Journal*> journals;
  for (size_t i = batch.placed.size(); i-- > 0;) {
    Placed& one = batch.placed[i];
    if (!one.taken_back) continue;
    one.can_be_tried_again = !batch.texts_are_in_files || TakeTextsBack(batch, i);
    for (const Target& target : one.files) {
      if (target.created) (void)fs_.Remove(target.path);
      folders_made_.erase(target.folder);  // perhaps it is gone
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

Recorder::BatchPtr Recorder::Begin(std::deque<Submission>& waiting, bool more) {
  BatchPtr batch(new Batch());
  batch->more = more;
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
  begun_.push_back(batch.get());
  if (!written.ok()) {
    TakeBackAll(*batch, written);
    SettleAll();
  }
  return batch;
}

std::vector<Result<Recorded>> Recorder::Finish(BatchPtr batch) {
  if (!batch->settled) {
    KERF_CHECK(!begun_.empty() && begun_.front() == batch.get(), "batches are finished in order");
    SettleFirst();
    // What was taken back with it gets its numbers before anything new does.
    if (!begun_.empty() && !begun_.front()->status.ok()) SettleAll();
  }
  return std::move(batch->results);
}

void Recorder::SettleAll() {
  while (!begun_.empty()) SettleFirst();
}

void Recorder::SettleFirst() {
  Batch& batch = *begun_.front();
  begun_.pop_front();
  batch.settled = true;
  if (batch.status.ok()) {
    Commit(batch);
    const auto failed = std::find_if(batch.placed.begin(), batch.placed.end(),
                                     [](const Placed& one) { return one.taken_back; });
    if (failed != batch.placed.end()) {
      // Later batches carry step numbers that follow ours: they go first, newest first.
      for (auto later = begun_.rbegin(); later != begun_.rend(); ++later) {
        if ((*later)->status.ok()) TakeBackAll(**later, failed->status);
        (*later)->collateral = true;
      }
      TakeBack(batch);
    }
  }
  for (Placed& one : batch.placed) one.task->batches -= 1;
  const bool is_single = batch.placed.size() == 1 && !batch.collateral;
  std::vector<size_t> again;  // submissions to be tried once more
  for (size_t i = 0; i < batch.placed.size(); ++i) {
    Placed& one = batch.placed[i];
    Result<Recorded>& result = batch.results[batch.index_of[i]];
    if (one.status.ok()) {
      result = std::move(one.recorded);
    } else {
      result = WhyNot(one);
      const bool has_a_chance = !is_single || NameWasTaken(one.status);
      if (one.taken_back && one.can_be_tried_again && has_a_chance) {
        again.push_back(batch.index_of[i]);
      }
    }
  }
  RecordAgain(batch, again);
}

// All of them at once; then, to find out which ones cannot be recorded, the halves, in order.
void Recorder::RecordAgain(Batch& batch, std::span<const size_t> which) {
  if (which.empty()) return;
  if (which.size() == 1) return RecordAlone(batch, which[0]);
  const std::vector<size_t> rest = TryTogether(batch, which);
  if (rest.size() < which.size()) return RecordAgain(batch, rest);
  RecordAgain(batch, which.first(which.size() / 2));
  RecordAgain(batch, which.subspan(which.size() / 2));
}

// Returns those that are as they were before and may be tried again; the others have a result.
std::vector<size_t> Recorder::TryTogether(Batch& batch, std::span<const size_t> which) {
  Batch trial;
  std::vector<size_t> tried;  // of `which`, for each in trial.placed
  for (const size_t index : which) {
    trial.submissions.push_back(std::move(batch.submissions[index]));
    Result<Placed> placed = Place(trial.submissions.back());
    if (!placed.ok()) {
      batch.results[index] = std::move(placed).error();
      continue;
    }
    placed->task->batches += 1;
    tried.push_back(index);
    trial.index_of.push_back(trial.submissions.size() - 1);
    trial.placed.push_back(std::move(placed).value());
  }
  if (tried.empty()) return {};
  const Status written = Write(trial);
  if (written.ok()) {
    Commit(trial);
    TakeBack(trial);
  } else {
    TakeBackAll(trial, written);
  }
  std::vector<size_t> rest;
  for (size_t i = 0; i < tried.size(); ++i) {
    Placed& one = trial.placed[i];
    one.task->batches -= 1;
    if (one.status.ok()) {
      batch.results[tried[i]] = std::move(one.recorded);
      continue;
    }
    batch.results[tried[i]] = WhyNot(one);
    if (!one.taken_back || !one.can_be_tried_again) continue;
    batch.submissions[tried[i]] = std::move(trial.submissions[trial.index_of[i]]);
    rest.push_back(tried[i]);
  }
  return rest;
}

void Recorder::RecordAlone(Batch& batch, size_t index) {
  MakeRoom();
  const bool is_left = !TryTogether(batch, {&index, 1}).empty();
  if (!is_left || !NameWasTaken(batch.results[index].error())) return;
  // Another program wrote a file of this task under our next step: take it in and go on after it.
  // Nothing of the task is on its way now; what looks unfinished was left by somebody else.
  const Submission& submission = batch.submissions[index];
  const Status recovered = RecoverAgain(submission.op, submission.task);
  if (recovered.ok()) {
    TryTogether(batch, {&index, 1});
  } else {
    batch.results[index] = recovered.error();
  }
}

Status Recorder::RecoverAgain(const std::string& op, const std::string& task) {
  KERF_ASSIGN_OR_RETURN(Task * opened, OpenTask(op, task));
  KERF_RETURN_IF_ERROR(opened->journal->FindUnjournaled());
  KERF_RETURN_IF_ERROR(RecoverTask(fs_, ids_, *opened->journal, opened->op_dir, task));
  return {};
}

Result<Recorded> Recorder::Record(const std::string& op, const std::string& task,
                                  PreparedRecord record) {
  KERF_CHECK(begun_.empty(), "single records do not overtake a batch");
  Batch batch;
  batch.submissions.push_back({op, task, std::move(record)});
  batch.results.emplace_back(Recorded{});
  RecordAlone(batch, 0);
  return std::move(batch.results[0]);
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
