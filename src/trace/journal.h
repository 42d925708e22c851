// The journal of one operator: reading it, and appending to it beside other processes.
// docs/formats/trace.md section 2.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "trace/journal_line.h"

namespace kerf::trace {

struct DamagedLine {
  uint64_t offset = 0;
  uint64_t length = 0;
  std::string reason;
};

// What a walk over the bytes of a journal found besides its good lines.
struct JournalScan {
  uint64_t good_end = 0;    // end of the last whole line
  uint64_t torn_bytes = 0;  // after it, without LF
  std::vector<DamagedLine> damaged;
};

// Calls `each` for every good line, in order, with its offset. `base` is the offset of `bytes` in
// the file.
JournalScan ScanJournal(std::string_view bytes, uint64_t base,
                        const std::function<void(JournalLine&&, uint64_t)>& each);

// Whether `later` shows that `earlier`, a record of the same task without commit, was given up: its
// step number was free again. True also when the line that says so could not be written.
bool GivesUp(const Step& later, const Step& earlier);

// What the recorder must know about one task.
struct TaskState {
  int64_t last_step = 0;
  int64_t committed_step = 0;  // the highest one that a commit vouches for
  // Conductor records so far, by step and check.
  std::map<std::pair<int64_t, std::string>, int64_t> attempts;
  // Records whose batch has neither commit nor abandon, and that no later record replaced.
  std::vector<JournalLine> uncommitted;
  bool out_of_order = false;  // their steps go down somewhere
};

// Not thread-safe; safe beside other processes.
class Journal {
 public:
  // Creates the file when it is missing; the operator's folder must exist.
  static Result<std::unique_ptr<Journal>> Open(FileSystem& fs, const std::string& op_dir);

  // Reads what other processes appended since the last call.
  Status Refresh();

  // Numbers the lines and appends them in one write, after cutting off a torn tail that a dead
  // process left. Not synced.
  Status Append(std::vector<JournalLine> lines);
  // Notes that a batch will never be finished; in memory also when the disk no longer takes the
  // line, which false tells.
  bool Abandon(const std::string& batch);
  Status Sync() { return file_->Sync(); }
  void StartSync() { file_->StartSync(); }
  // Whether the file is still where it was: false when somebody removed the folder while we record.
  bool IsStillThere() { return file_->IsStillAt(path_); }

  // Creates the entry when the task is new.
  TaskState& StateOf(const std::string& task) { return tasks_[task]; }
  [[nodiscard]] bool KnowsFile(std::string_view name) const;
  // Lines are damaged or missing and no repair has dealt with them: a commit may be among them.
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Record files that no line knew when the journal was opened: names relative to the operator's
  // folder, by task.
  std::map<std::string, std::vector<std::string>>& unjournaled() { return unjournaled_; }
  // Looks for such files again: another program may have written some meanwhile.
  Status FindUnjournaled();

 private:
  Journal(FileSystem& fs, std::string op_dir);
  Status Load();
  void Apply(JournalLine&& line);
  void ApplyRecord(JournalLine&& line);
  void ApplyAbandon(TaskState& state, const JournalLine& record);
  void GiveUp(TaskState& state, const Step& step);
  // Makes `known_files_` anew after a late abandon.
  Status ForgetAbandonedNames();
  // Removes what a dead appender left without LF. The file must be locked.
  Status CutTornTail();

  FileSystem& fs_;
  const std::string op_dir_;
  const std::string path_;
  std::unique_ptr<File> file_;
  uint64_t read_to_ = 0;
  int64_t last_seq_ = 0;
  bool damaged_ = false;
  std::unordered_map<std::string, TaskState> tasks_;
  // Batches with neither commit nor abandon, and their tasks: one, unless a stranger wrote the
  // line.
  std::unordered_map<std::string, std::set<std::string>> open_batches_;
  // Hashes of the names in record lines: a set of names would take ten times the memory.
  std::unordered_set<uint64_t> known_files_;
  // Batches with records that were given up for later ones.
  std::set<std::string> given_up_batches_;
  // A batch was abandoned whose records are not in memory: after its commit, because that could not
  // be synced, or after they were given up.
  bool late_abandon_ = false;
  std::map<std::string, std::vector<std::string>> unjournaled_;
};

}  // namespace kerf::trace
