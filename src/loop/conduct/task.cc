#include "loop/conduct/task.h"

#include <fmt/core.h>

#include <utility>

#include "base/hash.h"
#include "base/json_writer.h"
#include "llm/reply_parser.h"
#include "loop/code/coder.h"
#include "loop/conduct/failed_calls.h"
#include "loop/conduct/record_meta.h"
#include "loop/conduct/result_files.h"
#include "loop/design/designer.h"
#include "loop/task/spec_check.h"

namespace kerf::conduct {
namespace {

// The code of AIKG's synthetic records: what the user gave stands where a reply would.
std::string GivenReply(const std::string& code) {
  std::string reply;
  JsonWriter json(reply);
  json.BeginObject().Key("code").String(code).Key("description").String("").EndObject();
  return reply;
}

std::string GivenMeta(const std::string& task_sha256) {
  return R"({"given":true,"task_sha256":")" + task_sha256 + "\"}";
}

// Leading records of code that was given tell where the task began.
Start StartOf(Playback& playback, Start start) {
  while (!playback.empty() && playback.front().given) {
    const RecordedAnswer answer = playback.Take();
    const std::string code = llm::ParseCode(answer.reply, llm::CodeLanguage::kAny).code;
    if (IsDesigner(answer.action)) {
      start.design = code;
      start.action = ActionType::kDoCoder;
    } else {
      start.code = code;
      start.action = ActionType::kVerify;
    }
  }
  if (!playback.empty() && playback.front().action == ActionType::kDoCoderDirect) {
    start.action = ActionType::kDoCoderDirect;
  }
  return start;
}

std::string FirstDifference(const std::string& a, const std::string& b) {
  size_t line = 1;
  size_t begin = 0;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
    if (a[i] == '\n') {
      ++line;
      begin = i + 1;
    }
  }
  const auto at = [&](const std::string& text) {
    return text.substr(std::min(begin, text.size()), text.find('\n', begin) - begin).substr(0, 120);
  };
  return fmt::format("line {}: recorded '{}', now '{}'", line, at(a), at(b));
}

bool Fits(const Need& need, const RecordedAnswer& answer) {
  switch (need.kind) {
    case Need::Kind::kWork:
      return answer.kind == RecordKind::kDesignerOrCoder && answer.action == need.action;
    case Need::Kind::kCheck:
      return answer.kind == RecordKind::kConductor &&
             IsDesigner(answer.action) == IsDesigner(need.action) &&
             answer.action != ActionType::kVerify;
    case Need::Kind::kAnalyze:
      return answer.kind == RecordKind::kConductor && answer.action == ActionType::kVerify;
    case Need::Kind::kVerify:
      return answer.kind == RecordKind::kVerifier;
    case Need::Kind::kStop:
      break;
  }
  return false;
}

// Whether another look at the same code would find the same. Limits of time and memory, crashes and
// measurements depend on the moment.
bool IsFinal(const Verdict& verdict, bool measured) {
  switch (verdict.status) {
    case VerdictStatus::kPassed:
      return !measured || verdict.timing.has_value();
    case VerdictStatus::kCompileError:
    case VerdictStatus::kCallError:
    case VerdictStatus::kWrongShape:
    case VerdictStatus::kWrongDType:
    case VerdictStatus::kWrongValue:
    case VerdictStatus::kNonFinite:
    case VerdictStatus::kCheat:
      return true;
    default:
      return false;
  }
}

const char* NeedName(const Need& need) {
  switch (need.kind) {
    case Need::Kind::kCheck:
      return IsDesigner(need.action) ? "CheckDesigner" : "CheckCoder";
    case Need::Kind::kAnalyze:
      return "AnalyzeError";
    default:
      return ActionName(need.action);
  }
}

}  // namespace

Task::Task(TaskOptions options, TaskPorts ports, Playback playback, PlaybackMode mode)
    : options_(std::move(options)),
      ports_(ports),
      task_sha256_(Sha256Hex(options_.spec.task_desc)),
      conductor_(options_.rules, options_.start),
      playback_(std::move(playback)),
      mode_(mode) {}

Result<std::unique_ptr<Task>> Task::Open(TaskOptions options, TaskPorts ports) {
  return Open(std::move(options), ports, Playback(), PlaybackMode::kResume);
}

Result<std::unique_ptr<Task>> Task::Open(TaskOptions options, TaskPorts ports, Playback playback,
                                         PlaybackMode mode) {
  KERF_RETURN_IF_ERROR(task::CheckTaskSpec(options.spec));
  const bool fresh = playback.empty();
  if (!fresh && !playback.task_sha256().empty() &&
      playback.task_sha256() != Sha256Hex(options.spec.task_desc)) {
    return InvalidInput("the trace of " + options.spec.op_name + "/" + options.spec.task_id +
                        " was recorded for another text of the task; use another --log-dir or "
                        "--task-id");
  }
  options.start = StartOf(playback, std::move(options.start));
  std::unique_ptr<Task> task(new Task(std::move(options), ports, std::move(playback), mode));
  if (mode == PlaybackMode::kReplay) return task;
  KERF_RETURN_IF_ERROR(task->OpenTrace());
  if (fresh || mode == PlaybackMode::kFork) KERF_RETURN_IF_ERROR(task->RecordGivenCode());
  return task;
}

Status Task::OpenTrace() {
  trace::Trace::Options options;
  options.op_name = spec().op_name;
  options.task_id = spec().task_id;
  options.log_dir = options_.log_dir;
  options.names = options_.names;
  options.owner = "kerf run";
  options.redactor = &ports_.redactor;
  KERF_ASSIGN_OR_RETURN(
      trace_, trace::Trace::Open(ports_.fs, ports_.clock, ports_.ids, std::move(options)));
  const bool expected = mode_ == PlaybackMode::kResume && !playback_.empty();
  if (!expected && trace_->last_step() > 0) {
    return InvalidInput(options_.log_dir + " already holds " + name() +
                        "; --resume continues it, another --log-dir or --task-id begins anew");
  }
  return {};
}

Status Task::RecordGivenCode() {
  const Start& start = options_.start;
  if (options_.rules.coder_only) return {};
  const std::string meta = GivenMeta(task_sha256_);
  if (start.action == ActionType::kDoCoder || start.action == ActionType::kVerify) {
    KERF_RETURN_IF_ERROR(trace_->InsertDesignerOrCoderRecord(GivenReply(start.design), "", "",
                                                             ActionType::kDoDesigner, meta));
  }
  if (start.action == ActionType::kVerify) {
    KERF_RETURN_IF_ERROR(trace_->InsertDesignerOrCoderRecord(GivenReply(start.code), "", "",
                                                             ActionType::kDoCoder, meta));
  }
  return {};
}

Result<llm::Prompt> Task::MakePrompt() const {
  KERF_ASSIGN_OR_RETURN(llm::Prompt prompt, RenderPrompt());
  // Documents, given code and prompts are the user's: what must not be recorded is not sent either.
  trace::Redactor::Counts counts;
  (void)ports_.redactor.Redact(prompt.text, counts);
  return prompt;
}

Result<llm::Prompt> Task::RenderPrompt() const {
  const Need& need = conductor_.need();
  const bool improve = need.improve;
  const std::string log = Shorten(need.error_log, options_.log_bytes);
  const std::string reflection =
      conductor_.reflection().Text(options_.reflection_bytes, /*with_best_code=*/!improve);
  const code::Coder coder(ports_.prompts);
  Result<llm::Prompt> prompt = Error{};
  if (need.kind == Need::Kind::kAnalyze || IsCoder(need.action)) {
    const code::CodeRequest request{spec(),
                                    need.action,
                                    options_.hardware,
                                    conductor_.design(),
                                    conductor_.code(),
                                    need.suggestions,
                                    log,
                                    improve ? measurement_ : "",
                                    reflection,
                                    options_.coder_documents};
    if (need.kind == Need::Kind::kAnalyze) {
      prompt = coder.AskForAnalysis(request);
    } else {
      prompt = need.kind == Need::Kind::kCheck ? coder.AskForCheck(request) : coder.Ask(request);
    }
  } else {
    const design::Designer designer(ports_.prompts);
    const design::DesignRequest request{
        spec(),           need.action, options_.hardware,          conductor_.design(),
        need.suggestions, reflection,  options_.designer_documents};
    prompt =
        need.kind == Need::Kind::kCheck ? designer.AskForCheck(request) : designer.Ask(request);
  }
  if (!prompt.ok() || need.complaint.empty()) return prompt;
  KERF_ASSIGN_OR_RETURN(const llm::Prompt complaint,
                        ports_.prompts.Render("complaint", {{"complaint", need.complaint}}));
  prompt->text += "\n" + complaint.text;
  return prompt;
}

std::string Task::AgentName() const {
  const Need& need = conductor_.need();
  if (need.kind == Need::Kind::kCheck) return "conductor_check";
  if (need.kind == Need::Kind::kAnalyze) return "conductor_analyze";
  return IsDesigner(need.action) ? design::Designer::Agent(need.action)
                                 : code::Coder::Agent(need.action, spec().impl);
}

Result<Task::Work> Task::Next() {
  for (bool played = true; played;) {
    KERF_ASSIGN_OR_RETURN(played, PlayOne());
  }
  const Need& need = conductor_.need();
  Work work;
  if (need.kind == Need::Kind::kStop) return work;
  if (need.kind == Need::Kind::kVerify) {
    work.kind = Work::Kind::kVerify;
    work.candidate = {spec().op_name, spec().op_name + "_" + ImplName(spec().impl), spec().impl,
                      conductor_.code()};
    work.known = KnownJudgement();
    return work;
  }
  KERF_ASSIGN_OR_RETURN(prompt_, MakePrompt());
  work.kind = Work::Kind::kAsk;
  work.request.agent = AgentName();
  work.request.owner = name();
  work.request.messages = {{"user", prompt_.text}};
  work.request.spec = &options_.spec;
  work.request.last = last_verdict_.has_value() ? &*last_verdict_ : nullptr;
  work.request.action = need.action;
  tries_ = llm::AttemptLog::Attach(work.request);
  work.request.round = need.kind == Need::Kind::kWork ? conductor_.Round(need.action) : 0;
  return work;
}

std::optional<Judgement> Task::KnownJudgement() const {
  const auto found = known_.find(conductor_.code());
  if (found == known_.end()) return std::nullopt;
  Judgement judgement = found->second.judgement;
  if (!judgement.verdict.correct()) {
    judgement.verdict.log = fmt::format(
        "This is the same code as in step {}, and so is the verdict. Change the code.\n\n{}",
        found->second.step, judgement.verdict.log);
  }
  return judgement;
}

void Task::Fail(const Error& error, const std::string& because) {
  error_ = error;
  conductor_.Stop(because + ": " + error.message);
}

Result<bool> Task::PlayOne() {
  const Need& need = conductor_.need();
  if (divergence_.has_value()) return false;
  if (playback_.empty()) {
    if (options_.live_limit > 0) conductor_.LimitTo(options_.live_limit);
    if (mode_ == PlaybackMode::kReplay && need.kind != Need::Kind::kStop) {
      conductor_.Stop("the recording ends here");
    }
    return false;
  }
  if (need.kind == Need::Kind::kStop) {
    if (mode_ == PlaybackMode::kReplay) {
      Diverge(playback_.front().step, "recorded " +
                                          std::string(ActionName(playback_.front().action)) +
                                          ", now it ends (" + need.because + ")");
    }
    return false;
  }
  const RecordedAnswer& answer = playback_.front();
  // It was left out: nobody could be asked, or the limit of then left no step for a repair.
  if (need.kind == Need::Kind::kCheck && answer.kind != RecordKind::kConductor) {
    conductor_.SkipCheck();
    return true;
  }
  if (!Fits(need, answer)) {
    const std::string recorded = answer.kind == RecordKind::kConductor
                                     ? ConductorCheck(answer.action)
                                     : ActionName(answer.action);
    if (mode_ == PlaybackMode::kReplay) {
      Diverge(answer.step,
              "recorded " + recorded + ", now " + NeedName(need) + " (" + need.because + ")");
      return false;
    }
    return InvalidInput(fmt::format(
        "step {} of {} is {}, but with these options the loop would do {} ({}): it was recorded "
        "with others; use another --log-dir",
        answer.step, name(), recorded, NeedName(need), need.because));
  }
  if (need.kind == Need::Kind::kVerify) {
    if (mode_ == PlaybackMode::kReplay) return false;
    KERF_RETURN_IF_ERROR(PlayVerdict(playback_.Take()));
    return true;
  }
  KERF_RETURN_IF_ERROR(PlayReply(playback_.Take()));
  return !divergence_.has_value();
}

void Task::Diverge(int64_t step, const std::string& what) {
  divergence_ = fmt::format("step {}: {}", step, what);
  conductor_.Stop("the replay differs at " + *divergence_);
}

Status Task::PlayReply(const RecordedAnswer& answer) {
  if (mode_ == PlaybackMode::kReplay) {
    KERF_ASSIGN_OR_RETURN(prompt_, MakePrompt());
    if (prompt_.text != answer.prompt) {
      Diverge(answer.step, std::string("the prompt of ") + NeedName(conductor_.need()) +
                               " differs, " + FirstDifference(answer.prompt, prompt_.text));
      return {};
    }
  }
  if (mode_ == PlaybackMode::kFork) {
    const auto insert = answer.kind == RecordKind::kConductor
                            ? &trace::Trace::InsertConductorRecord
                            : &trace::Trace::InsertDesignerOrCoderRecord;
    KERF_RETURN_IF_ERROR((trace_.get()->*insert)(answer.reply, answer.prompt, answer.reasoning,
                                                 answer.action, answer.meta));
  }
  Feed(answer.reply, answer.finish);
  return {};
}

Status Task::PlayVerdict(const RecordedAnswer& answer) {
  if (mode_ == PlaybackMode::kFork) {
    KERF_RETURN_IF_ERROR(trace_->InsertVerifierRecord(
        answer.verify_res, answer.attempt.log, answer.profile, ActionType::kVerify, answer.meta));
  }
  last_verdict_.emplace();
  last_verdict_->status =
      ParseVerdictStatus(answer.attempt.status).value_or(VerdictStatus::kUnsupported);
  last_verdict_->reason = answer.attempt.reason;
  last_verdict_->summary = answer.attempt.summary;
  last_verdict_->log = answer.attempt.log;
  if (answer.attempt.speedup.has_value()) {
    last_verdict_->timing.emplace();
    last_verdict_->timing->speedups.push_back({"eager", *answer.attempt.speedup, 0, 0, ""});
  }
  const Attempt* best = conductor_.reflection().best();
  if (answer.attempt.passed &&
      (best == nullptr || answer.attempt.speedup.value_or(0) > best->speedup.value_or(0))) {
    measurement_ = answer.measurement;
    best_dir_ = answer.verify_dir;
  }
  conductor_.TakeVerdict(answer.attempt);
  return {};
}

void Task::Feed(const std::string& text, llm::Finish finish) {
  const Need& need = conductor_.need();
  if (need.kind == Need::Kind::kWork) {
    const auto language =
        IsDesigner(need.action) ? llm::CodeLanguage::kAul : llm::LanguageOf(spec().impl);
    llm::ParsedReply parsed = llm::ParseCode(text, language, finish);
    if (!parsed.ok()) parsed.code.clear();
    conductor_.TakeCode(
        {std::move(parsed.code), std::move(parsed.description), std::move(parsed.complaint)});
    return;
  }
  const bool analyze = need.kind == Need::Kind::kAnalyze;
  const llm::ParsedCheck parsed = llm::ParseCheck(
      text, analyze ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{0, 1}, finish);
  TakenCheck taken{std::nullopt, parsed.reason, parsed.suggestions, parsed.complaint};
  if (taken.complaint.empty()) taken.result = parsed.result;
  if (analyze) {
    conductor_.TakeAnalysis(taken);
  } else {
    conductor_.TakeCheck(taken);
  }
}

Status Task::TakeReply(Result<llm::Reply> reply) {
  if (!reply.ok() && reply.error().code == ErrorCode::kNotFound &&
      conductor_.reflection().best() != nullptr) {
    // Nothing is left to try: no failure, when there is a kernel.
    conductor_.Stop(reply.error().message);
    return {};
  }
  if (!reply.ok()) {
    KERF_RETURN_IF_ERROR(RecordFailure(reply.error()));
    if (conductor_.need().kind == Need::Kind::kCheck) {
      conductor_.CheckFailed();
      return {};
    }
    Fail(reply.error(), AgentName() + " got no answer");
    return {};
  }
  KERF_RETURN_IF_ERROR(RecordReply(*reply));
  Feed(reply->text, reply->finish);
  return {};
}

// Money was spent and a part of an answer may be there; the trace has records of whole ones only.
Status Task::RecordFailure(const Error& error) {
  if (trace_ == nullptr || tries_ == nullptr) return {};
  const FailedCall call{FormatUtc(ports_.clock.WallNanos()),
                        name(),
                        AgentName(),
                        options_.model,
                        error.message,
                        tries_->list()};
  if (call.attempts.empty()) return {};
  return AppendFailedCall(ports_.fs, options_.log_dir, call, ports_.redactor);
}

Status Task::RecordReply(const llm::Reply& reply) {
  const Need& need = conductor_.need();
  AskFacts facts{AgentName(), options_.model, prompt_, need.because, task_sha256_, {}, {}};
  if (need.kind == Need::Kind::kWork) {
    const auto language =
        IsDesigner(need.action) ? llm::CodeLanguage::kAul : llm::LanguageOf(spec().impl);
    facts.repairs = llm::ParseCode(reply.text, language, reply.finish).repairs;
    KERF_RETURN_IF_ERROR(trace_->InsertDesignerOrCoderRecord(
        reply.text, prompt_.text, reply.reasoning, need.action, ReplyMeta(facts, reply)));
    return {};
  }
  facts.repairs = llm::ParseCheck(reply.text, {0, 1, 2}).repairs;
  const ActionType judged = need.kind == Need::Kind::kAnalyze ? ActionType::kVerify : need.action;
  KERF_RETURN_IF_ERROR(trace_->InsertConductorRecord(reply.text, prompt_.text, reply.reasoning,
                                                     judged, ReplyMeta(facts, reply)));
  return {};
}

Status Task::TakeJudgement(Result<Judgement> judgement) {
  if (!judgement.ok()) {
    Fail(judgement.error(), "the verifier could not find out");
    return {};
  }
  const Verdict& verdict = judgement->verdict;
  Attempt attempt;
  attempt.passed = verdict.correct();
  attempt.status = VerdictStatusName(verdict.status);
  attempt.reason = verdict.reason;
  attempt.summary = verdict.summary;
  attempt.log = attempt.passed ? "" : verdict.log;
  if (verdict.passed() && verdict.timing.has_value() && !verdict.timing->speedups.empty()) {
    attempt.speedup = verdict.timing->speedups.front().speedup;
  }
  last_verdict_ = verdict;
  if (mode_ == PlaybackMode::kReplay) {
    const RecordedAnswer recorded = playback_.Take();
    if (recorded.attempt.status != attempt.status || recorded.attempt.reason != attempt.reason) {
      Diverge(recorded.step, fmt::format("the verdict was {} {}, now it is {} {}: {}",
                                         recorded.attempt.status, recorded.attempt.reason,
                                         attempt.status, attempt.reason, attempt.summary));
      return {};
    }
    return PlayVerdict(recorded);
  }
  const ResultFiles files{ports_.fs, ports_.ids,          options_.log_dir,
                          spec(),    trace_->last_step(), options_.names};
  KERF_ASSIGN_OR_RETURN(const std::string verify_dir,
                        files.Keep(conductor_.code(), verdict, judgement->seeds));
  const JudgeFacts facts{judgement->device,         verify_dir,
                         conductor_.need().because, task_sha256_,
                         MeasurementText(verdict),  {}};
  KERF_ASSIGN_OR_RETURN(const trace::Recorded recorded,
                        trace_->InsertVerifierRecord(attempt.passed ? "True" : "False", attempt.log,
                                                     ProfileJson(verdict), ActionType::kVerify,
                                                     VerdictMeta(facts, verdict)));
  // What is in the trace counts, whether the list beside it could be written or not.
  const Status told = files.Tell(verdict, attempt, verify_dir, FormatUtc(ports_.clock.WallNanos()));
  attempt.step = recorded.step;
  if (IsFinal(verdict, wants_profile())) {
    known_.insert({conductor_.code(), {recorded.step, *judgement}});
  }
  const Attempt* best = conductor_.reflection().best();
  if (attempt.passed &&
      (best == nullptr || attempt.speedup.value_or(0) > best->speedup.value_or(0))) {
    measurement_ = facts.measurement;
    best_dir_ = verify_dir;
  }
  conductor_.TakeVerdict(std::move(attempt));
  return told;
}

TaskOutcome Task::outcome() const {
  TaskOutcome outcome;
  if (const Attempt* best = conductor_.reflection().best(); best != nullptr) outcome.best = *best;
  outcome.success = outcome.best.has_value();
  outcome.because = conductor_.need().because;
  outcome.best_dir = best_dir_;
  outcome.steps = conductor_.steps();
  outcome.error = error_;
  outcome.divergence = divergence_;
  return outcome;
}

}  // namespace kerf::conduct
