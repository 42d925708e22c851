// What a task was asked to do, beside its records, so that a run can be resumed, forked and
// replayed from its directory alone: LOG_DIR/.kerf/tasks/HASH.json. docs/loop.md, "Resume, fork,
// replay".
#pragma once

#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "loop/conduct/task.h"

namespace kerf::conduct {

Status SaveTaskRecord(FileSystem& fs, const TaskOptions& options, const std::string& language);

struct TaskRecord {
  TaskOptions options;  // without log_dir and start
  std::string language;
};
// kNotFound when the trace was not made by `kerf run`.
Result<TaskRecord> LoadTaskRecord(FileSystem& fs, const std::string& log_dir, const std::string& op,
                                  const std::string& task);

}  // namespace kerf::conduct
