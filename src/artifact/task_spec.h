// What the loop is asked to do, in AIKG's words: one kernel for one task file.
#pragma once

#include <cstdint>
#include <string>

#include "artifact/candidate.h"

namespace kerf {

struct TaskSpec {
  std::string op_name;
  std::string task_desc;  // the task file's text, or a test that drives the kernel
  std::string label;      // of a test: the original source, by whose results it judges
  std::string task_id = "0";
  std::string backend = "cpu";  // "ascend", "cuda", "cpu"
  std::string arch;             // "x86_64", "h200", "ascend910b4"
  Impl impl = Impl::kCpp;
  std::string framework = "torch";           // "mindspore", "torch", "numpy"
  std::string task_type = "precision_only";  // or "profile"
  int64_t limit_steps = 10;
};

}  // namespace kerf
