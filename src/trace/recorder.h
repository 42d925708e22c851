// Records steps of many tasks under one log directory, durably. docs/formats/trace.md section 2 has
// the protocol.
//
//   KERF_ASSIGN_OR_RETURN(auto recorder, Recorder::Open(fs, clock, ids, {.log_dir = "logs"}));
//   KERF_ASSIGN_OR_RETURN(PreparedRecord record, PrepareRecord(input, recorder->names(),
//   redactor)); KERF_ASSIGN_OR_RETURN(Recorded done, recorder->Record("swish", "0",
//   std::move(record)));
//
// A task is opened, locked and recovered by its first record, and stays locked until Close() or the
// end of the Recorder. Not thread-safe. Other processes may record other tasks under the same
// directory at the same time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/worker.h"
#include "trace/journal.h"
#include "trace/names.h"
#include "trace/prepared_record.h"
#include "trace/recovery.h"

namespace kerf::trace {

struct Submission {
  std::string op;
  std::string task;
  PreparedRecord record;
};

struct Recorded {
  std::string op;
  std::string task;
  int64_t step = 0;
  std::vector<std::string> files;  // relative to the log directory
};

class Recorder {
 public:
  struct Options {
    std::string log_dir;
    Names names = Names::kDoc;
    // Shown to others who want the same task.
    std::string owner = "another process";
    // Beyond this many, the task used longest ago is closed: every open task holds a descriptor.
    size_t max_open_tasks = 200;
    // Lets the device work on a large batch, in a thread, while the next one is written.
    bool overlap = false;
    // Threads that write the files of one large batch, with `overlap`.
    size_t writers = 1;
  };

  static Result<std::unique_ptr<Recorder>> Open(FileSystem& fs, Clock& clock, IdSource& ids,
                                                Options options);
  ~Recorder();

  // Durable when it returns.
  Result<Recorded> Record(const std::string& op, const std::string& task, PreparedRecord record);
  // The same for many at the cost of one wait; results in the order of the submissions. One that
  // fails does not take the others with it.
  std::vector<Result<Recorded>> RecordAll(std::vector<Submission> submissions);

  // RecordAll in two halves, so that the next batch can be written while the device takes this one.
  // Begin() takes from the front of `waiting` as many as can go together; `more`: another batch
  // follows at once, so that time counts less than work. Finish() waits until they are durable;
  // batches must be finished in the order in which they were begun.
  class Batch;
  struct BatchDeleter {
    void operator()(Batch* batch) const;
  };
  using BatchPtr = std::unique_ptr<Batch, BatchDeleter>;
  BatchPtr Begin(std::deque<Submission>& waiting, bool more = false);
  std::vector<Result<Recorded>> Finish(BatchPtr batch);
  // Writes the commits of the oldest batch if the device has all of it. The next batch that is
  // begun brings them to the device together with its own lines.
  void SealFirst();
  // Whether Finish() has at most the commits to wait for; and whether it has nothing to wait for,
  // or the batch is so small that there was no reason to let the device begin.
  static bool IsSynced(const Batch& batch);
  static bool IsDone(const Batch& batch);

  // Opens the task; what had to be mended for that.
  Result<RecoveryReport> Recover(const std::string& op, const std::string& task);
  // Opens the task if need be; the number of its last step, 0 for a new one.
  Result<int64_t> LastStep(const std::string& op, const std::string& task);
  void Close(const std::string& op, const std::string& task);

  [[nodiscard]] Names names() const { return options_.names; }
  [[nodiscard]] const std::string& log_dir() const { return options_.log_dir; }

 private:
  struct Task;
  struct Placed;
  struct Target;
  struct ToSync;

  Recorder(FileSystem& fs, Clock& clock, IdSource& ids, Options options);

  Result<Task*> OpenTask(const std::string& op, const std::string& task);
  Result<std::shared_ptr<Journal>> OpenJournal(const std::string& op);
  // Closes tasks that no batch uses until fewer than the maximum are open; false when all are in
  // use.
  bool MakeRoom();
  Result<Placed> Place(Submission& submission);
  // The halves of the protocol: lines and files; then, when they are durable, the commits.
  Status Write(Batch& batch);
  void Commit(Batch& batch);
  void TakeBack(Batch& batch);
  void TakeBackAll(Batch& batch, const Status& why);
  // Waits for the oldest batch and gives each of its records a result. When one fails, everything
  // on its way is settled, in order, before anything new begins: records keep their order, and no
  // batch is on its way while a task is recovered.
  void SettleFirst();
  void SettleAll();
  void RecordAgain(Batch& batch, std::span<const size_t> which);
  std::vector<size_t> TryTogether(Batch& batch, std::span<const size_t> which);
  void RecordAlone(Batch& batch, size_t index);
  Status RecoverAgain(const std::string& op, const std::string& task);
  Status AppendRecords(std::vector<Placed>& placed);
  void SyncLines(Batch& batch);
  void AppendCommits(Batch& batch);
  void SyncCommits(Batch& batch);
  // In a thread if there may be one, else when somebody asks for the result.
  std::shared_future<Status> Later(Worker& worker, std::function<Status()> job);
  Status MakeFolders(Batch& batch);
  Status WriteFew(Batch& batch);
  Status WriteMany(Batch& batch);
  Status WriteTogether(const std::vector<Target*>& targets);
  Result<std::unique_ptr<File>> WriteFile(Target& target);
  static void LetGoOfTexts(Batch& batch);
  bool TakeTextsBack(Batch& batch, size_t index);
  Status SyncFiles(Batch& batch);
  Status SyncThrough(const ToSync& own);
  static std::vector<Journal*> JournalsOf(const Batch& batch);
  Status SyncLinesOf(const std::vector<Journal*>& journals);
  static Status SyncJournals(const std::vector<Journal*>& journals);
  static Error WasRemoved(const std::string& folder);
  static Error WhyNot(const Placed& one);

  FileSystem& fs_;
  Clock& clock_;
  IdSource& ids_;
  const Options options_;
  // For what is written from now on; one for each thread that syncs everything.
  std::unique_ptr<SyncPoint> files_point_;
  std::unique_ptr<SyncPoint> lines_point_;
  using Key = std::pair<std::string, std::string>;
  std::list<Task> tasks_;  // most recently used first
  std::map<Key, std::list<Task>::iterator> task_of_;
  std::map<std::string, std::weak_ptr<Journal>> journals_;
  std::set<std::string> folders_made_;
  std::deque<Batch*> begun_;  // not settled yet, oldest first
  // Large batches that wait for the device, oldest first: one sync serves all that are written.
  std::mutex sync_mu_;
  std::deque<ToSync> to_sync_;  // guarded by sync_mu_
  int64_t last_number_ = 0;
  int64_t synced_through_ = 0;  // for whoever syncs only: one at a time
  // For small batches: one file each. What they work on is above, or waits for them.
  std::vector<std::unique_ptr<Worker>> few_syncers_;
  // For large ones: files, journals, and the whole file system.
  std::vector<std::unique_ptr<Worker>> helpers_;  // of the writer
  Worker writer_;
  Worker line_syncer_;
  Worker syncer_;
};

}  // namespace kerf::trace
