// What a Recorder knows of records on their way to the disk. For recorder*.cc only.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recorder.h"

namespace kerf::trace {

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
  // After the batch was finished: what went wrong; whether its files were removed again, and
  // whether another try makes sense.
  Status status;
  bool taken_back = false;
  bool can_be_tried_again = true;
};

struct Recorder::ToSync {
  int64_t number = 0;
  std::shared_future<Status> written;  // not valid: they are
  std::shared_future<Status> lines_synced;
};

class Recorder::Batch {
 public:
  Batch() = default;
  // Others may still be at work on it.
  ~Batch() { Wait(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void Wait() const {
    for (const std::shared_future<Status>& job : {written, lines_synced, synced, commits_synced}) {
      if (job.valid()) job.wait();
    }
  }

  std::map<Journal*, std::vector<Placed*>> ByJournal() {
    std::map<Journal*, std::vector<Placed*>> groups;
    for (Placed& one : placed) groups[one.task->journal.get()].push_back(&one);
    return groups;
  }

  bool more = false;                   // another one follows at once
  std::deque<Submission> submissions;  // a deque: Placed points into it
  std::vector<Result<Recorded>> results;
  std::vector<Placed> placed;
  std::vector<size_t> index_of;             // of placed, in submissions
  std::vector<std::unique_ptr<File>> open;  // a few files, to be synced one by one
  std::set<std::string> folders;
  // Of a large batch: its files (when that is another thread's work); then on the device the lines,
  // then everything; and the commits, with the lines of a later one.
  std::shared_future<Status> written;
  std::shared_future<Status> lines_synced;
  std::shared_future<Status> synced;
  std::shared_future<Status> commits_synced;
  bool texts_are_in_files = false;  // and no longer in the submissions
  bool sealed = false;              // the commits are written
  std::vector<Journal*> committed;  // where that went well
  Status status;                    // what went wrong before any commit was written
  bool collateral = false;          // it went wrong in an earlier batch
  bool settled = false;             // `results` are final
};

}  // namespace kerf::trace
