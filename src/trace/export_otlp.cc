// One TracesData object per line; a task's spans are spread over several lines when they are many,
// which receivers join by trace id. Span ids are known beforehand, so a span can be written before
// the one it points at.

#include "trace/export_otlp.h"

#include <algorithm>

#include "base/json_writer.h"
#include "trace/otlp_attributes.h"
#include "trace/step_facts.h"

namespace kerf::trace {
namespace {

// A body that OTLP over HTTP takes is limited to 20 MiB, and readers hold a whole line.
constexpr size_t kLineBytes = 4 << 20;
constexpr size_t kSpansPerLine = 512;
constexpr size_t kOtlpFlushBytes = 256 << 10;
constexpr size_t kExplanationBytes = 4096;

constexpr int kKindInternal = 1;
constexpr int kKindClient = 3;
constexpr int kStatusError = 2;

class OtlpExporter : public TaskExporter {
 public:
  OtlpExporter(FileSystem& fs, ExportSettings settings)
      : fs_(fs),
        settings_(std::move(settings)),
        texts_(fs, *settings_.unreadable),
        json_(buffer_) {}

  Status Add(const ExportTask& task) override {
    task_ = &task;
    trace_id_ = task.id;
    span_ids_ = SpanIdsOf(task, trace_id_);
    times_ = TimesOf(fs_, task);
    judged_ = JudgedRecords(task.steps);
    BeginLine();
    WriteTask();
    for (size_t i = 0; i < task.steps.size(); ++i) {
      if (spans_in_line_ >= kSpansPerLine || line_bytes_ + buffer_.size() >= kLineBytes) {
        KERF_RETURN_IF_ERROR(EndLine());
        BeginLine();
      }
      WriteStep(i);
      if (buffer_.size() >= kOtlpFlushBytes) KERF_RETURN_IF_ERROR(Flush());
    }
    return EndLine();
  }

  Status Finish() override { return {}; }

 private:
  void BeginLine() {
    line_bytes_ = 0;
    spans_in_line_ = 0;
    json_.BeginObject().Key("resourceSpans").BeginArray().BeginObject();
    json_.Key("resource").BeginObject();
    {
      OtlpAttributes attributes(json_);
      attributes.String("service.name", "kerf");
      attributes.String("service.version", settings_.version);
    }
    json_.EndObject().Key("scopeSpans").BeginArray().BeginObject();
    json_.Key("scope").BeginObject().Key("name").String("kerf");
    json_.Key("version").String(settings_.version).EndObject();
    json_.Key("spans").BeginArray();
  }

  Status EndLine() {
    json_.EndArray().EndObject().EndArray().EndObject().EndArray().EndObject();
    json_.EndLine();
    return Flush();
  }

  Status Flush() {
    line_bytes_ += buffer_.size();
    Status status = settings_.sink(buffer_);
    buffer_.clear();
    return status;
  }

  void BeginSpan(const std::string& id, const std::string& name, int kind, int64_t start_ns,
                 int64_t end_ns) {
    ++spans_in_line_;
    json_.BeginObject().Key("traceId").String(trace_id_).Key("spanId").String(id);
    if (id != span_ids_.back()) json_.Key("parentSpanId").String(span_ids_.back());
    json_.Key("name").String(name).Key("kind").Int(kind);
    json_.Key("startTimeUnixNano").String(std::to_string(start_ns));
    json_.Key("endTimeUnixNano").String(std::to_string(end_ns));
  }

  void WriteErrorStatus(const std::string& message) {
    json_.Key("status").BeginObject().Key("code").Int(kStatusError);
    json_.Key("message").String(message).EndObject();
  }

  void WriteTask() {
    int64_t start = times_[0].start_ns;
    int64_t end = times_[0].end_ns;
    for (const StepTime& time : times_) {
      start = std::min(start, time.start_ns);
      end = std::max(end, time.end_ns);
    }
    Verification verdict = Verification::kNone;
    for (const Step& step : task_->steps) {
      if (step.kind == RecordKind::kVerifier) verdict = step.verification;
    }
    BeginSpan(span_ids_.back(), "invoke_workflow " + task_->op, kKindInternal, start, end);
    {
      OtlpAttributes attributes(json_);
      attributes.String("gen_ai.operation.name", "invoke_workflow");
      attributes.String("gen_ai.workflow.name", task_->op);
      AddPlace(attributes);
      attributes.Int("kerf.records", static_cast<int64_t>(task_->steps.size()));
      attributes.String("kerf.verdict", VerificationName(verdict));
      attributes.ErrorType(verdict == Verification::kFailed ? "verification_failed" : "");
    }
    if (verdict == Verification::kFailed) WriteErrorStatus("the last verification failed");
    json_.EndObject();
  }

  void AddPlace(OtlpAttributes& attributes) const {
    attributes.String("gen_ai.conversation.id", trace_id_);
    attributes.String("kerf.run", task_->run);
    attributes.String("kerf.op", task_->op);
    attributes.String("kerf.task", task_->task);
  }

  void WriteStep(size_t i) {
    const Step& step = task_->steps[i];
    const StepFacts facts = ReadStepFacts(step);
    if (step.kind == RecordKind::kVerifier) {
      WriteVerification(i, step, facts);
    } else {
      WriteChat(i, step, facts);
    }
  }

  void AddStep(OtlpAttributes& attributes, size_t i, const Step& step,
               const StepFacts& facts) const {
    AddPlace(attributes);
    attributes.Int("kerf.step", step.step);
    attributes.String("kerf.action", step.action);
    attributes.String("kerf.check", step.check);
    if (step.attempt > 1) attributes.Int("kerf.attempt", step.attempt);
    attributes.String("kerf.device", facts.device);
    if (times_[i].source != TimeSource::kRecorded) {
      attributes.String("kerf.time_source", TimeSourceName(times_[i].source));
    }
    attributes.True("kerf.duration_unknown", !times_[i].has_duration);
    attributes.True("kerf.recovered", step.recovered);
  }

  void WriteChat(size_t i, const Step& step, const StepFacts& facts) {
    BeginSpan(span_ids_[i], facts.model.empty() ? "chat" : "chat " + facts.model, kKindClient,
              times_[i].start_ns, times_[i].end_ns);
    {
      OtlpAttributes attributes(json_);
      attributes.String("gen_ai.operation.name", "chat");
      attributes.String("gen_ai.provider.name",
                        facts.provider.empty() ? "unknown" : facts.provider);
      attributes.String("gen_ai.request.model", facts.model);
      attributes.String("gen_ai.agent.name", RoleOf(step));
      attributes.Params(facts);
      attributes.OneString("gen_ai.response.finish_reasons", facts.finish_reason);
      attributes.Int("gen_ai.usage.input_tokens", facts.input_tokens);
      attributes.Int("gen_ai.usage.output_tokens", facts.output_tokens);
      attributes.Int("gen_ai.usage.cache_read.input_tokens", facts.cached_tokens);
      attributes.Int("gen_ai.usage.reasoning.output_tokens", facts.reasoning_tokens);
      attributes.Double("gen_ai.usage.cost", facts.cost_usd);
      AddStep(attributes, i, step, facts);
      attributes.ErrorType(facts.error);
      if (settings_.content) AddMessages(attributes, step, facts);
    }
    if (!facts.error.empty()) WriteErrorStatus(facts.error);
    json_.EndObject();
  }

  void AddMessages(OtlpAttributes& attributes, const Step& step, const StepFacts& facts) {
    std::string input;
    JsonWriter in(input);
    in.BeginArray().BeginObject().Key("role").String("user").Key("parts").BeginArray();
    in.BeginObject().Key("type").String("text").Key("content");
    in.String(texts_.Text(*task_, step, "prompt")).EndObject();
    in.EndArray().EndObject().EndArray();
    attributes.String("gen_ai.input.messages", input);
    std::string output;
    JsonWriter out(output);
    out.BeginArray().BeginObject().Key("role").String("assistant").Key("parts").BeginArray();
    const std::string reasoning = texts_.Text(*task_, step, "reasoning");
    if (!reasoning.empty()) {
      out.BeginObject().Key("type").String("reasoning").Key("content").String(reasoning);
      out.EndObject();
    }
    out.BeginObject().Key("type").String("text").Key("content");
    out.String(texts_.Reply(*task_, step)).EndObject().EndArray();
    if (!facts.finish_reason.empty()) out.Key("finish_reason").String(facts.finish_reason);
    out.EndObject().EndArray();
    attributes.String("gen_ai.output.messages", output);
  }

  void WriteVerification(size_t i, const Step& step, const StepFacts& facts) {
    const bool failed = step.verification == Verification::kFailed;
    BeginSpan(span_ids_[i], "execute_tool verify", kKindInternal, times_[i].start_ns,
              times_[i].end_ns);
    const std::string log = settings_.content ? texts_.Text(*task_, step, "error_log") : "";
    {
      OtlpAttributes attributes(json_);
      attributes.String("gen_ai.operation.name", "execute_tool");
      attributes.String("gen_ai.tool.name", "verify");
      attributes.String("gen_ai.tool.type", "function");
      attributes.String("gen_ai.tool.call.id", span_ids_[i]);
      AddStep(attributes, i, step, facts);
      attributes.String("kerf.verdict", VerificationName(step.verification));
      attributes.Double("kerf.speedup", facts.speedup);
      attributes.ErrorType(facts.error.empty() && failed ? "verification_failed" : facts.error);
      if (settings_.content) AddToolResult(attributes, step, log);
    }
    WriteEvaluations(i, step, facts, log);
    if (judged_[i] >= 0) {
      json_.Key("links").BeginArray().BeginObject().Key("traceId").String(trace_id_);
      json_.Key("spanId").String(span_ids_[static_cast<size_t>(judged_[i])]);
      json_.EndObject().EndArray();
    }
    if (failed || !facts.error.empty()) {
      WriteErrorStatus(facts.error.empty() ? "the verification failed" : facts.error);
    }
    json_.EndObject();
  }

  void AddToolResult(OtlpAttributes& attributes, const Step& step, const std::string& log) {
    std::string result;
    JsonWriter json(result);
    json.BeginObject().Key("verify_res").String(texts_.Text(*task_, step, "verify_res"));
    json.Key("log").String(log);
    const std::string profile = texts_.Text(*task_, step, "profile");
    if (!profile.empty()) json.Key("profile").Copy(profile);
    json.EndObject();
    attributes.String("gen_ai.tool.call.result", result);
  }

  void WriteEvaluations(size_t i, const Step& step, const StepFacts& facts,
                        const std::string& log) {
    json_.Key("events").BeginArray();
    BeginEvaluation(i);
    {
      OtlpAttributes attributes(json_);
      attributes.String("gen_ai.evaluation.name", "kerf.verify");
      attributes.String("gen_ai.evaluation.score.label", VerificationName(step.verification));
      if (step.verification != Verification::kUnknown) {
        attributes.Double("gen_ai.evaluation.score.value",
                          step.verification == Verification::kPassed ? 1 : 0);
      }
      attributes.String("gen_ai.evaluation.explanation", log.substr(0, kExplanationBytes));
    }
    json_.EndObject();
    if (facts.speedup.has_value()) {
      BeginEvaluation(i);
      {
        OtlpAttributes attributes(json_);
        attributes.String("gen_ai.evaluation.name", "kerf.perform");
        attributes.Double("gen_ai.evaluation.score.value", facts.speedup);
      }
      json_.EndObject();
    }
    json_.EndArray();
  }

  void BeginEvaluation(size_t i) {
    json_.BeginObject().Key("timeUnixNano").String(std::to_string(times_[i].end_ns));
    json_.Key("name").String("gen_ai.evaluation.result");
  }

  FileSystem& fs_;
  const ExportSettings settings_;
  StepTexts texts_;
  std::string buffer_;
  JsonWriter json_;
  size_t line_bytes_ = 0;
  size_t spans_in_line_ = 0;
  // Of the task being written.
  const ExportTask* task_ = nullptr;
  std::string trace_id_;
  std::vector<std::string> span_ids_;
  std::vector<StepTime> times_;
  std::vector<int64_t> judged_;
};

}  // namespace

std::unique_ptr<TaskExporter> MakeOtlpExporter(FileSystem& fs, ExportSettings settings) {
  return std::make_unique<OtlpExporter>(fs, std::move(settings));
}

}  // namespace kerf::trace
