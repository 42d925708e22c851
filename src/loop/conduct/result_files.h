// AIKG's files about verdicts, beside the records: the verify folder, passed_cases/,
// verification_results.jsonl and profiling/speed_up_record.txt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/attempt.h"
#include "artifact/task_spec.h"
#include "artifact/verdict.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "trace/names.h"

namespace kerf::conduct {

struct ResultFiles {
  FileSystem& fs;
  IdSource& ids;
  const std::string& log_dir;
  const TaskSpec& spec;
  int64_t step = 0;  // the coder's, as in AIKG
  trace::Names names = trace::Names::kDoc;

  // The verify folder, and its copy when it passed; its path relative to the log directory.
  [[nodiscard]] Result<std::string> Keep(const std::string& code, const Verdict& verdict,
                                         const std::vector<int64_t>& seeds) const;
  // The lines in verification_results.jsonl and, when it was measured, speed_up_record.txt.
  [[nodiscard]] Status Tell(const Verdict& verdict, const Attempt& attempt,
                            const std::string& verify_dir, const std::string& time) const;
};

}  // namespace kerf::conduct
