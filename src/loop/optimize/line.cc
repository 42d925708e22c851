#include "loop/optimize/line.h"

#include <fmt/core.h>

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "llm/reply_parser.h"
#include "loop/conduct/failed_calls.h"
#include "loop/verify/torch_extensions.h"
#include "trace/step_facts.h"

namespace kerf::optimize {
namespace {

std::string FactText(const std::vector<trace::Fact>& facts, const std::string& path) {
  for (const trace::Fact& fact : facts) {
    if (fact.path == path) return fact.text;
  }
  return "";
}

int64_t IterationOf(const conduct::RecordedAnswer& answer) {
  for (const trace::Fact& fact : trace::FlattenFacts(answer.meta, "")) {
    if (fact.path == "iteration" && fact.number.has_value()) {
      return static_cast<int64_t>(*fact.number);
    }
  }
  return -1;
}

std::string Quoted(const std::string& text) {
  std::string json;
  AppendJsonString(json, text);
  return json;
}

constexpr char kSuspicious[] = "suspicious";

std::string Word(bool value) { return value ? "true" : "false"; }

// As a record of an earlier attempt says it, for one with the same code.
conduct::Judgement JudgementOf(const Trial& trial) {
  conduct::Judgement judgement;
  Verdict& verdict = judgement.verdict;
  verdict.status = ParseVerdictStatus(trial.status).value_or(VerdictStatus::kUnsupported);
  verdict.reason = trial.reason;
  verdict.summary = trial.summary;
  verdict.log = trial.log;
  verdict.pass_call = trial.pass_call;
  verdict.pass_exe = trial.pass_exe;
  verdict.stage = trial.pass_call ? Stage::kExecute : Stage::kCall;
  verdict.candidate_sha256 = Sha256Hex(trial.code);
  if (trial.speedup.has_value()) {
    verdict.timing.emplace();
    verdict.timing->speedups.push_back({"earlier", *trial.speedup, 0, 0, ""});
  }
  return judgement;
}

// Whether what is timed is the kernel itself, and not an emulator or an interpreter. Of tests the
// verifier knows more (test_race.h).
bool IsNative(const Case& data, const std::string& code) {
  const TaskSpec& spec = data.spec;
  if (!data.is_task() || spec.backend != "cpu" || spec.impl == Impl::kCpp) return true;
  return spec.impl == Impl::kTorchExt && !verify::LanguageOf(code).gpu;
}

}  // namespace

Line::Line(const Case& data, int64_t index, const LinePorts& ports, conduct::Playback playback)
    : data_(data),
      index_(index),
      task_(std::to_string(index)),
      ports_(ports),
      sha256_(Sha256Hex(data.instruction + '\0' + data.label + '\0' + data.test_code)),
      playback_(std::move(playback)) {}

void Line::Begin(int64_t iteration, const CaseState& state, bool live) {
  state_ = &state;
  plan_ = state.PlanOf(index_);
  live_ = live;
  judged_ = false;
  unusable_ = false;
  complaint_.clear();
  trial_ = Trial();
  trial_.iteration = iteration;
  trial_.line = index_;
  trial_.mode = plan_.mode;
  need_ = Need::kCode;
  if (ports_.only_synth && !data_.is_task()) {
    ended_ =
        "kerf's synthesizer works from a label that is a task file with a Model; a model can do "
        "it: --model openai:MODEL";
    need_ = Need::kNothing;
    return;
  }
  if (index_ != 0 || plan_.mode != Mode::kFirst || plan_.last != nullptr) return;
  if (ports_.rules.use_predict && !data_.predict.empty()) {
    need_ = Need::kGiven;
  } else if (ports_.rules.synth && data_.is_task()) {
    need_ = Need::kSynth;
  }
}

std::string Line::Agent() const {
  if (need_ == Need::kReflect) return "optimize_reflect";
  if (need_ == Need::kSynth) return "optimize_synth";
  if (plan_.mode == Mode::kDebug) return "optimize_debug";
  return plan_.mode == Mode::kImprove ? "optimize_improve" : "optimize_generate";
}

ActionType Line::Action() const {
  const bool fix = plan_.mode == Mode::kDebug || plan_.mode == Mode::kImprove;
  return fix ? ActionType::kFixCoder : ActionType::kDoCoderDirect;
}

conduct::MoreFacts Line::More() const {
  return {{"iteration", std::to_string(trial_.iteration)}, {"mode", Quoted(ModeName(plan_.mode))}};
}

Result<Line::Work> Line::Next() {
  for (bool played = true; played;) {
    KERF_ASSIGN_OR_RETURN(played, PlayOne());
  }
  if (!live_ || error_.has_value() || !ended_.empty()) need_ = Need::kNothing;
  if (need_ == Need::kGiven) KERF_RETURN_IF_ERROR(RecordGiven());
  if (need_ == Need::kVerify) {
    KERF_ASSIGN_OR_RETURN(const bool repeated, RepeatVerdict());
    if (!repeated) return MakeVerify();
  }
  if (need_ == Need::kNothing) return Work();
  return MakeAsk();
}

Result<bool> Line::PlayOne() {
  if (playback_.empty() || need_ == Need::kNothing) return false;
  const conduct::RecordedAnswer& front = playback_.front();
  const int64_t iteration = IterationOf(front);
  if (iteration > trial_.iteration && !live_) return false;
  const bool code = need_ == Need::kGiven || need_ == Need::kSynth || need_ == Need::kCode;
  const RecordKind wanted = code                     ? RecordKind::kDesignerOrCoder
                            : need_ == Need::kVerify ? RecordKind::kVerifier
                                                     : RecordKind::kConductor;
  if (iteration != trial_.iteration || front.kind != wanted) {
    return Corrupt(
        fmt::format("step {} of {} in the trace is not what iteration {} would do next; "
                    "was it changed?",
                    front.step, name(), trial_.iteration));
  }
  const conduct::RecordedAnswer answer = playback_.Take();
  if (code) {
    trial_.step = answer.step;
    TakeCode(answer.reply, answer.finish);
  } else if (need_ == Need::kVerify) {
    KERF_RETURN_IF_ERROR(PlayVerdict(answer));
  } else {
    trial_.reflection = answer.reply;
    need_ = Need::kNothing;
  }
  return true;
}

Status Line::PlayVerdict(const conduct::RecordedAnswer& answer) {
  const std::vector<trace::Fact> facts = trace::FlattenFacts(answer.meta, "");
  trial_.step = answer.step;
  trial_.pass_call = FactText(facts, "pass_call") == "true";
  trial_.pass_exe = FactText(facts, "pass_exe") == "true";
  trial_.correct = answer.attempt.passed;
  trial_.status = answer.attempt.status;
  trial_.reason = answer.attempt.reason;
  trial_.summary = answer.attempt.summary;
  trial_.log = answer.attempt.log;
  trial_.measurement = answer.measurement;
  if (FactText(facts, "pass_perf") == "true") trial_.speedup = answer.attempt.speedup;
  AfterVerdict();
  return {};
}

Result<Line::Work> Line::MakeAsk() {
  const bool reflect = need_ == Need::kReflect;
  KERF_ASSIGN_OR_RETURN(prompt_,
                        reflect ? ports_.prompter.AskForReflection(data_, trial_)
                                : ports_.prompter.AskForCode(data_, *state_, plan_, complaint_));
  Work work;
  work.kind = Work::Kind::kAsk;
  work.request.agent = Agent();
  work.request.owner = name();
  work.request.messages = {{"user", prompt_.text}};
  work.request.spec = &data_.spec;
  work.request.action = reflect ? ActionType::kVerify : Action();
  // Lines that ask for improvements at the same time get different ones.
  work.request.round = plan_.improvements * ports_.rules.descendants + index_;
  tries_ = llm::AttemptLog::Attach(work.request);
  return work;
}

Line::Work Line::MakeVerify() const {
  Work work;
  work.kind = Work::Kind::kVerify;
  const TaskSpec& spec = data_.spec;
  work.candidate = {spec.op_name, spec.op_name + "_" + ImplName(spec.impl), spec.impl, trial_.code};
  work.spec = spec;
  const bool profile = ports_.measure && IsNative(data_, trial_.code);
  work.spec.task_type = profile ? "profile" : "precision_only";
  return work;
}

Status Line::RecordGiven() {
  StepInput input;
  input.kind = RecordKind::kDesignerOrCoder;
  input.action = ActionType::kDoCoderDirect;
  JsonWriter json(input.res);
  json.BeginObject().Key("code").String(data_.predict).Key("description").String("").EndObject();
  JsonWriter meta(input.meta);
  meta.BeginObject().Key("given").Bool(true);
  for (const auto& [key, value] : More()) meta.Key(key).Raw(value);
  meta.Key("task_sha256").String(sha256_).EndObject();
  const std::string reply = input.res;
  KERF_ASSIGN_OR_RETURN(
      trace::PreparedRecord record,
      trace::PrepareRecord(std::move(input), ports_.recorder.names(), ports_.redactor));
  KERF_RETURN_IF_ERROR(ports_.recorder.Record(data_.folder, task_, std::move(record)));
  TakeCode(reply, llm::Finish::kStop);
  return {};
}

void Line::TakeCode(const std::string& text, llm::Finish finish) {
  llm::ParsedReply parsed = llm::ParseCode(text, llm::LanguageOf(data_.spec.impl), finish);
  trial_.strategy = parsed.description;
  if (parsed.ok()) {
    trial_.code = std::move(parsed.code);
    need_ = Need::kVerify;
    return;
  }
  if (!unusable_ && need_ != Need::kGiven) {
    unusable_ = true;
    complaint_ = parsed.complaint;
    need_ = Need::kCode;
    return;
  }
  trial_.status = "no_code";
  trial_.summary = trial_.log = "The reply could not be used: " + parsed.complaint;
  judged_ = true;
  need_ = Need::kNothing;
}

Status Line::RecordReply(const llm::Reply& reply, const std::vector<std::string>& repairs) {
  const bool reflect = need_ == Need::kReflect;
  const conduct::AskFacts facts{Agent(), ports_.model, prompt_, "", sha256_, repairs, More()};
  StepInput input;
  input.kind = reflect ? RecordKind::kConductor : RecordKind::kDesignerOrCoder;
  input.action = reflect ? ActionType::kVerify : Action();
  input.res = reply.text;
  input.prompt = prompt_.text;
  input.reasoning = reply.reasoning;
  input.meta = conduct::ReplyMeta(facts, reply);
  KERF_ASSIGN_OR_RETURN(
      trace::PreparedRecord record,
      trace::PrepareRecord(std::move(input), ports_.recorder.names(), ports_.redactor));
  KERF_RETURN_IF_ERROR(ports_.recorder.Record(data_.folder, task_, std::move(record)));
  return {};
}

Status Line::TakeReply(Result<llm::Reply> reply) {
  if (!reply.ok()) {
    const ErrorCode code = reply.error().code;
    const bool refused = code == ErrorCode::kInvalidInput || code == ErrorCode::kNotFound;
    if (refused && need_ == Need::kSynth && !ports_.only_synth) {
      need_ = Need::kCode;  // then the model writes it
      return {};
    }
    KERF_RETURN_IF_ERROR(RecordFailure(reply.error()));
    if (refused && (need_ == Need::kSynth || ports_.only_synth)) {
      ended_ = reply.error().message;
    } else {
      error_ = reply.error();
    }
    return {};
  }
  // What is used is what is recorded, so that a run that is resumed goes the same way.
  trace::Redactor::Counts counts;
  ports_.redactor.Redact(reply->text, counts);
  const bool reflect = need_ == Need::kReflect;
  const std::vector<std::string> repairs =
      reflect
          ? std::vector<std::string>()
          : llm::ParseCode(reply->text, llm::LanguageOf(data_.spec.impl), reply->finish).repairs;
  KERF_RETURN_IF_ERROR(RecordReply(*reply, repairs));
  if (reflect) {
    trial_.reflection = reply->text;
    need_ = Need::kNothing;
  } else {
    TakeCode(reply->text, reply->finish);
  }
  return {};
}

// Money was spent and a part of an answer may be there; the trace has records of whole ones only.
Status Line::RecordFailure(const Error& error) {
  if (tries_ == nullptr || tries_->list().empty()) return {};
  return conduct::AppendFailedCall(ports_.fs, ports_.recorder.log_dir(),
                                   {FormatUtc(ports_.clock.WallNanos()), name(), Agent(),
                                    ports_.model, error.message, tries_->list()},
                                   ports_.redactor);
}

Result<bool> Line::RepeatVerdict() {
  const Trial* earlier = state_->Find(trial_.code);
  // What a noisy machine could not measure is measured again.
  if (earlier == nullptr || earlier->status == kSuspicious) return false;
  conduct::Judgement judgement = JudgementOf(*earlier);
  trial_.measurement = earlier->speedup.has_value() ? earlier->measurement : "";
  KERF_RETURN_IF_ERROR(RecordVerdict(
      judgement, std::to_string(earlier->line) + ":" + std::to_string(earlier->step)));
  return true;
}

Status Line::TakeJudgement(Result<conduct::Judgement> judgement) {
  if (!judgement.ok()) {
    const bool stopped = judgement.error().code == ErrorCode::kUnavailable;
    if (stopped) {
      error_ = judgement.error();
    } else {
      ended_ = "the verifier could not find out: " + judgement.error().message;
    }
    return {};
  }
  trace::Redactor::Counts counts;
  ports_.redactor.Redact(judgement->verdict.log, counts);
  ports_.redactor.Redact(judgement->verdict.summary, counts);
  trial_.measurement =
      judgement->verdict.timing.has_value() ? conduct::MeasurementText(judgement->verdict) : "";
  return RecordVerdict(*judgement, "");
}

Status Line::RecordVerdict(const conduct::Judgement& judgement, const std::string& same_as) {
  const Verdict& verdict = judgement.verdict;
  TakeVerdict(verdict);
  conduct::JudgeFacts facts{judgement.device,   "",    ModeName(plan_.mode), sha256_,
                            trial_.measurement, More()};
  facts.more.insert(facts.more.end(), {{"pass_call", Word(trial_.pass_call)},
                                       {"pass_exe", Word(trial_.pass_exe)},
                                       {"pass_perf", Word(trial_.speedup.has_value())}});
  if (!same_as.empty()) facts.more.emplace_back("same_as", Quoted(same_as));
  StepInput input;
  input.kind = RecordKind::kVerifier;
  input.action = ActionType::kVerify;
  input.verify_res = trial_.correct ? "True" : "False";
  input.verify_log = trial_.log;
  input.profile = same_as.empty() ? conduct::ProfileJson(verdict) : "";
  input.meta = conduct::VerdictMeta(facts, verdict);
  KERF_ASSIGN_OR_RETURN(
      trace::PreparedRecord record,
      trace::PrepareRecord(std::move(input), ports_.recorder.names(), ports_.redactor));
  KERF_ASSIGN_OR_RETURN(const trace::Recorded recorded,
                        ports_.recorder.Record(data_.folder, task_, std::move(record)));
  trial_.step = recorded.step;
  AfterVerdict();
  return {};
}

void Line::TakeVerdict(const Verdict& verdict) {
  trial_.correct = verdict.correct();
  trial_.pass_exe = verdict.pass_exe || trial_.correct;
  trial_.pass_call = verdict.pass_call || trial_.pass_exe;
  trial_.status = VerdictStatusName(verdict.status);
  trial_.reason = verdict.reason;
  trial_.summary = verdict.summary;
  trial_.log = trial_.correct ? "" : verdict.log.empty() ? verdict.summary : verdict.log;
  const bool measured =
      verdict.passed() && verdict.timing.has_value() && !verdict.timing->speedups.empty();
  if (measured) trial_.speedup = verdict.timing->speedups.front().speedup;
}

void Line::AfterVerdict() {
  judged_ = true;
  need_ = plan_.reflect && ports_.reflect ? Need::kReflect : Need::kNothing;
}

std::optional<Trial> Line::TakeTrial() {
  if (!judged_) return std::nullopt;
  return std::move(trial_);
}

}  // namespace kerf::optimize
