// Reads traces that kerf or any generation of AIKG wrote, with or without a journal. Takes no lock
// and never sees half a record: docs/formats/trace.md, "Why this order".
//
//   KERF_ASSIGN_OR_RETURN(std::vector<Run> runs, FindRuns(fs, "logs"));
//   KERF_ASSIGN_OR_RETURN(OpTrace op, ReadOp(fs, runs[0].path, runs[0].ops[0]));
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "artifact/step.h"
#include "base/file_system.h"
#include "base/result.h"
#include "trace/journal.h"
#include "trace/verification_results.h"

namespace kerf::trace {

// A log directory and the operators in it, both sorted.
struct Run {
  std::string path;
  std::vector<std::string> ops;
  // Folders that may hold an operator but could not be looked into, with the reason.
  std::vector<std::pair<std::string, std::string>> skipped;
};

// `path` may be a run, a folder of runs, or one operator's folder. kNotFound when nothing there is
// a trace.
Result<std::vector<Run>> FindRuns(FileSystem& fs, const std::string& path);

// Whether a symbolic link in a run leads to what looks like an operator's folder. kerf does not
// follow it: whatever is read as a run must be in it.
bool IsLinkedOp(FileSystem& fs, const std::string& dir);
inline constexpr char kNotFollowed[] = "a symbolic link, which kerf does not follow here";

struct TaskSteps {
  std::string op;
  std::string task;
  // By step number; the conductor's records after the record they judge.
  std::vector<Step> steps;
};

struct OpTrace {
  std::string op;
  std::string dir;
  bool has_journal = false;
  std::vector<TaskSteps> tasks;
  // The rest is for `check`. Damage before a repair line is known and not told again.
  JournalScan scan;
  int64_t known_damage = 0;
  int64_t uncommitted = 0;       // whole records whose commit is missing
  std::vector<Step> unfinished;  // in the journal, without commit, and not whole
  std::vector<int64_t> missing_seqs;
  std::vector<std::string> unknown_files;

  // Lines of the journal that are damaged or gone, without what may just be being written. A
  // damaged one leaves a gap in the numbers, too.
  [[nodiscard]] int64_t LostLines() const {
    return static_cast<int64_t>(std::max(scan.damaged.size(), missing_seqs.size()));
  }
};

Result<OpTrace> ReadOp(FileSystem& fs, const std::string& run_path, const std::string& op);
// The same for callers who read many operators of a run, with what they read once for all.
Result<OpTrace> ReadOp(FileSystem& fs, const std::string& run_path, const std::string& op,
                       const VerificationResults& results);

// The tasks of an operator; just the named one unless `task` is empty. kNotFound tells which ones
// there are. `lost_lines`, when given, becomes OpTrace::LostLines().
Result<std::vector<TaskSteps>> ReadTasks(FileSystem& fs, const std::string& run_path,
                                         const std::string& op, const std::string& task,
                                         int64_t* lost_lines = nullptr);

// A file of a step, as stored.
Result<std::string> ReadStepFile(FileSystem& fs, const std::string& op_dir, const StepFile& file);
// The text of one parameter ("result", "prompt", "error_log" …); empty when the step has no such
// file.
Result<std::string> ReadStepText(FileSystem& fs, const std::string& op_dir, const Step& step,
                                 const std::string& parameter);
// What the model sent, byte for byte: the result file, or what it was made from.
Result<std::string> ReadRawReply(FileSystem& fs, const std::string& op_dir, const Step& step);

// A place in a trace, as a user writes it: PATH, PATH:TASK or PATH:TASK:STEP. PATH is an operator's
// folder, or a run with a single operator; TASK may be left empty where there is one task only
// (PATH::3), and may be OP/TASK, as `kerf run` names it.
struct Address {
  std::string run_path;
  std::string op;
  std::string task;
  int64_t step = -1;  // -1: the whole task
};
Result<Address> ResolveAddress(FileSystem& fs, const std::string& text);

}  // namespace kerf::trace
