#include "trace/trace.h"

namespace kerf::trace {

Trace::Trace(Options options, std::unique_ptr<Recorder> recorder, int64_t last_step)
    : options_(std::move(options)), recorder_(std::move(recorder)), last_step_(last_step) {}

Result<std::unique_ptr<Trace>> Trace::Open(FileSystem& fs, Clock& clock, IdSource& ids,
                                           Options options) {
  if (options.redactor != nullptr) {
    for (std::string name : {options.op_name, options.task_id}) {
      Redactor::Counts counts;
      if (options.redactor->Redact(name, counts)) {
        return InvalidInput("op_name or task_id contains a credential (" + counts.begin()->first +
                            "); use another name");
      }
    }
  }
  KERF_ASSIGN_OR_RETURN(
      std::unique_ptr<Recorder> recorder,
      Recorder::Open(fs, clock, ids,
                     {.log_dir = options.log_dir, .names = options.names, .owner = options.owner}));
  KERF_ASSIGN_OR_RETURN(const int64_t last_step,
                        recorder->LastStep(options.op_name, options.task_id));
  return std::unique_ptr<Trace>(new Trace(std::move(options), std::move(recorder), last_step));
}

Result<Recorded> Trace::Insert(StepInput input) {
  const Redactor& redactor = options_.redactor != nullptr ? *options_.redactor : no_redaction_;
  KERF_ASSIGN_OR_RETURN(PreparedRecord record,
                        PrepareRecord(std::move(input), options_.names, redactor));
  KERF_ASSIGN_OR_RETURN(Recorded recorded,
                        recorder_->Record(options_.op_name, options_.task_id, std::move(record)));
  last_step_ = recorded.step;
  return recorded;
}

Result<Recorded> Trace::InsertDesignerOrCoderRecord(std::string res, std::string prompt,
                                                    std::string reasoning, ActionType action_type,
                                                    std::string meta) {
  StepInput input;
  input.kind = RecordKind::kDesignerOrCoder;
  input.action = action_type;
  input.res = std::move(res);
  input.prompt = std::move(prompt);
  input.reasoning = std::move(reasoning);
  input.meta = std::move(meta);
  return Insert(std::move(input));
}

Result<Recorded> Trace::InsertVerifierRecord(std::string verify_res, std::string verify_log,
                                             std::string profile, ActionType action_type,
                                             std::string meta) {
  StepInput input;
  input.kind = RecordKind::kVerifier;
  input.action = action_type;
  input.verify_res = std::move(verify_res);
  input.verify_log = std::move(verify_log);
  input.profile = std::move(profile);
  input.meta = std::move(meta);
  return Insert(std::move(input));
}

Result<Recorded> Trace::InsertConductorRecord(std::string res, std::string prompt,
                                              std::string reasoning, ActionType action_type,
                                              std::string meta) {
  StepInput input;
  input.kind = RecordKind::kConductor;
  input.action = action_type;
  input.res = std::move(res);
  input.prompt = std::move(prompt);
  input.reasoning = std::move(reasoning);
  input.meta = std::move(meta);
  return Insert(std::move(input));
}

std::string Trace::VerifyDir() const {
  return JoinPath(JoinPath(recorder_->log_dir(), options_.op_name),
                  VerifyFolder(options_.names, options_.task_id, last_step_));
}

}  // namespace kerf::trace
