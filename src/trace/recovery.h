// Brings one task of a trace into a state from which recording can go on, without losing or
// inventing anything. docs/formats/trace.md, "Opening an existing trace".
#pragma once

#include <string>

#include "artifact/step.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "trace/journal.h"

namespace kerf::trace {

struct RecoveryReport {
  int64_t committed = 0;  // whole records whose commit was missing
  int64_t abandoned = 0;  // unfinished records, never acknowledged
  int64_t recovered = 0;  // records rebuilt from files
  // Where files of unfinished records were moved to; empty when there were none.
  std::string set_aside;
};

// Whether every file of the record is there with its size and hash.
bool FilesMatch(FileSystem& fs, const std::string& op_dir, const Step& step);

// The caller holds the task's lock.
Result<RecoveryReport> RecoverTask(FileSystem& fs, IdSource& ids, Journal& journal,
                                   const std::string& op_dir, const std::string& task);

}  // namespace kerf::trace
