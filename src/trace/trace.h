// AIKG's Trace, in C++: one task's records, with the same operations, files, names and step
// numbers; and, unlike it, durable, and continued when it is opened again.
//
//   KERF_ASSIGN_OR_RETURN(auto trace, Trace::Open(fs, clock, ids, {.op_name = "swish", .task_id =
//   "123", .log_dir = "~/logs"})); KERF_ASSIGN_OR_RETURN(auto step,
//   trace->InsertDesignerOrCoderRecord(reply, prompt, reasoning, ActionType::kDoDesigner));
//
// Not thread-safe. The task is locked while the Trace lives.
#pragma once

#include <memory>
#include <string>

#include "trace/recorder.h"
#include "trace/redactor.h"

namespace kerf::trace {

class Trace {
 public:
  struct Options {
    std::string op_name;
    std::string task_id;
    std::string log_dir;
    Names names = Names::kDoc;
    std::string owner = "another process";
    const Redactor* redactor = nullptr;  // outlives the Trace; null: nothing is redacted
  };

  static Result<std::unique_ptr<Trace>> Open(FileSystem& fs, Clock& clock, IdSource& ids,
                                             Options options);

  // `meta` is a JSON object or empty.
  Result<Recorded> InsertDesignerOrCoderRecord(std::string res, std::string prompt,
                                               std::string reasoning, ActionType action_type,
                                               std::string meta = "");
  Result<Recorded> InsertVerifierRecord(std::string verify_res, std::string verify_log,
                                        std::string profile,
                                        ActionType action_type = ActionType::kVerify,
                                        std::string meta = "");
  Result<Recorded> InsertConductorRecord(std::string res, std::string prompt, std::string reasoning,
                                         ActionType action_type, std::string meta = "");

  [[nodiscard]] int64_t last_step() const { return last_step_; }
  // Where the verifier of the next VERIFY step puts its files: it carries the coder's step, as in
  // AIKG.
  [[nodiscard]] std::string VerifyDir() const;

 private:
  Trace(Options options, std::unique_ptr<Recorder> recorder, int64_t last_step);
  Result<Recorded> Insert(StepInput input);

  const Options options_;
  const Redactor no_redaction_;
  std::unique_ptr<Recorder> recorder_;
  int64_t last_step_;
};

}  // namespace kerf::trace
