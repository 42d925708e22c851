// Compares every file of a trace with its journal, tells the truth about it, and mends what can be
// mended without inventing anything. docs/formats/trace.md section 3.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "trace/reader.h"

namespace kerf::trace {

struct Finding {
  bool damage = false;  // false: a note
  std::string
      what;  // torn_tail, damaged_line, missing_line, missing_file, altered_file, unjournaled_file,
             // unfinished_record, missing_commit, unknown_file, no_journal, in_use, bad_name
  std::string path;
  std::string detail;  // a sentence
};

struct CheckReport {
  std::string run_path;
  int64_t records = 0;
  int64_t files = 0;
  std::vector<Finding> findings;

  [[nodiscard]] bool damaged() const;
};

using Progress = std::function<void(const std::string&)>;

Result<CheckReport> CheckRun(FileSystem& fs, const Run& run, const Progress& progress);

struct RepairReport {
  int64_t committed = 0;
  int64_t abandoned = 0;
  int64_t recovered = 0;
  int64_t journal_damage = 0;          // torn tails, bad lines and gaps dealt with
  std::vector<std::string> set_aside;  // folders that files of unfinished records were moved to
  std::vector<Finding> not_done;       // tasks in use by others, or with names kerf cannot record
};

// `owner` is shown to others while a task is locked for repair.
Result<RepairReport> RepairRun(FileSystem& fs, Clock& clock, IdSource& ids, const Run& run,
                               const std::string& owner);

}  // namespace kerf::trace
