// Brings the tables of an index up to date with the files of its run, reading only what is new.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"
#include "trace/index_store.h"
#include "trace/run_watch.h"

namespace kerf::trace {

struct IndexProgress {
  size_t ops_done = 0;
  size_t ops_total = 0;
  int64_t steps_added = 0;
};

class IndexUpdater {
 public:
  // Everything is borrowed. `progress` may be empty.
  IndexUpdater(FileSystem& fs, Clock& clock, IndexStore& store, std::string run_path,
               std::function<void(const IndexProgress&)> progress);

  // What a search needs; costs a listing of the run and two calls of stat per operator when nothing
  // has changed. Work done is committed about once a second, so that an interrupted update goes on
  // where it was. kUnavailable: another process is writing.
  Status Update();
  // From nothing, in one transaction: until it ends, others search the old state.
  Status Rebuild();

  [[nodiscard]] int64_t added() const { return progress_now_.steps_added; }
  [[nodiscard]] int64_t removed() const { return removed_; }
  // Texts that could not be read, among those that were looked at.
  [[nodiscard]] int64_t unread() const { return unread_; }
  // What may hold steps and could not be looked into, with the reason.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& skipped() const {
    return skipped_;
  }

 private:
  Status Sync(const std::string& name);
  Status SyncFull(const OpState& known, OpState seen);
  Status SyncTail(const OpState& known, OpState seen);
  static NewRow MakeRow(const Step& step, bool provisional);
  // Sizes and times of a step that no journal vouches for. False when a file is so new that it may
  // still be written to.
  bool CompleteFromFiles(const std::string& op_dir, Step& step);
  // Makes the rows `existing` into `wanted`.
  Status Replace(OpState& op, const std::vector<IndexedRow>& existing,
                 const std::vector<NewRow>& wanted);
  Status SyncAll(const std::vector<std::string>& names, bool commit_often);
  Status ForgetGone(const std::vector<std::string>& folders);
  static bool MaySkip(const Error& error);
  void NoteSkipped(const std::string& name, const std::string& reason);
  void NoteLinks();

  FileSystem& fs_;
  Clock& clock_;
  IndexStore& store_;
  const std::string run_path_;
  const std::function<void(const IndexProgress&)> on_progress_;
  RunWatch watch_;
  bool everything_changed_ = false;
  IndexProgress progress_now_;
  int64_t removed_ = 0;
  int64_t unread_ = 0;
  std::vector<std::pair<std::string, std::string>> skipped_;
};

}  // namespace kerf::trace
