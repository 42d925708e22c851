// The cases of a data set, as `kerf optimize` works on them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "artifact/task_spec.h"
#include "base/file_system.h"
#include "base/result.h"
#include "dataset/problem.h"

namespace kerf::optimize {

struct Case {
  std::string name;            // `filename` or `file`
  bool named_by_file = false;  // `file`
  std::string folder;          // the operator's name in the trace
  std::string instruction;
  std::string label;
  std::string predict;
  std::string test_code;
  std::string oneshot;  // of the data's mem file; else the label
  // Members kerf does not know, as they stand, with their names.
  std::vector<std::pair<std::string, std::string>> others;
  TaskSpec spec;         // filled in by the caller, from the next two
  std::string not_here;  // why it cannot be judged; empty when it can

  // The label is a task file with a Model: then there is no test.
  [[nodiscard]] bool is_task() const;
  // What its candidates are written in, as far as the record tells: torch_ext or triton.
  [[nodiscard]] Impl GuessImpl() const;
};

struct DataSet {
  std::string sha256;       // of both files
  std::vector<Case> cases;  // in the order of the jsonl; a name once
  dataset::Problems problems;
};

// `mem_path` may be empty. kCorrupt when there is no case in it.
Result<DataSet> ReadDataSet(const std::string& jsonl_path, const std::string& mem_path);

// Signatures of the functions in a Python source that are no kernels, one line each: what a
// translation must offer.
std::string Signatures(const std::string& source);

}  // namespace kerf::optimize
