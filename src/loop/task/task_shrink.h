// Makes a task smaller through its own module-level sizes (python/kerf/task_sizes.py), in the
// sandbox, so that a machine can hold it. The new text is the old one with other numbers in it; it
// serves the reference and the candidate alike.
//
//   KERF_ASSIGN_OR_RETURN(const ShrunkTask small, ShrinkTask(fs, task, {}, python, cache_dir));
//   spec.task_desc = small.text;
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "loop/task/interpreter.h"
#include "loop/task/task_file.h"
#include "loop/task/task_runner.h"

namespace kerf::task {

struct ShrinkOptions {
  int64_t max_bytes = int64_t{64} << 20;  // inputs, parameters and outputs together
  double max_work = 0;                    // operations of products and convolutions; 0: no limit
  TaskRunOptions run = {.timeout = std::chrono::minutes(2)};
};

// One number of the task's text.
struct SizeChange {
  std::string name;
  int64_t line = 0;
  int64_t from = 0;
  int64_t to = 0;

  bool operator==(const SizeChange&) const = default;
};

struct ShrinkReport {
  std::vector<SizeChange> changed;  // empty: it fits as it is
  int64_t bytes_before = 0;
  int64_t bytes = 0;
  double work_before = 0;
  double work = 0;
};

struct ShrunkTask {
  std::string text;
  ShrinkReport report;
};

// kInvalidInput when the task does not run, or when no choice of its sizes is small enough.
Result<ShrunkTask> ShrinkTask(FileSystem& fs, const TaskFile& task, const ShrinkOptions& options,
                              const Interpreter& interpreter, const std::string& cache_root);

// Reads out/sizes.json. kInvalidInput with the program's own words when it holds an error; kCorrupt
// when it is something else.
Result<ShrinkReport> ParseSizes(std::string_view json);

}  // namespace kerf::task
