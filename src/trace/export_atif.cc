// The members of a step are checked strictly by Harbor: unknown ones are refused, those about a
// model are for agent steps only, an observation must name a tool call of its own step, and a step
// without a model call may have no metrics.

#include "trace/export_atif.h"

#include <set>

#include "base/clock.h"
#include "base/json_writer.h"
#include "trace/step_facts.h"

namespace kerf::trace {
namespace {

constexpr size_t kAtifFlushBytes = 256 << 10;

// Sums over the model's calls. A total that misses some calls would be read as the whole.
struct Totals {
  int64_t calls = 0;
  int64_t with_tokens = 0;
  int64_t with_cost = 0;
  int64_t input = 0;
  int64_t output = 0;
  int64_t cached = 0;
  double cost_usd = 0;

  void Add(const StepFacts& facts) {
    ++calls;
    if (facts.input_tokens.has_value() || facts.output_tokens.has_value()) ++with_tokens;
    if (facts.cost_usd.has_value()) ++with_cost;
    input += facts.input_tokens.value_or(0);
    output += facts.output_tokens.value_or(0);
    cached += facts.cached_tokens.value_or(0);
    cost_usd += facts.cost_usd.value_or(0);
  }
};

class AtifExporter : public TaskExporter {
 public:
  AtifExporter(FileSystem& fs, ExportSettings settings)
      : fs_(fs),
        settings_(std::move(settings)),
        texts_(fs, *settings_.unreadable),
        json_(buffer_) {}

  Status Add(const ExportTask& task) override {
    task_ = &task;
    step_id_ = 0;
    totals_ = {};
    KERF_RETURN_IF_ERROR(WriteHead());
    const std::vector<StepTime> times = TimesOf(fs_, task);
    const std::vector<int64_t> judged = JudgedRecords(task.steps);
    for (size_t i = 0; i < task.steps.size(); ++i) {
      const Step& step = task.steps[i];
      if (step.kind == RecordKind::kVerifier) {
        WriteVerification(step, times[i], judged[i]);
      } else {
        WriteCall(step, times[i]);
      }
      if (buffer_.size() >= kAtifFlushBytes) KERF_RETURN_IF_ERROR(Flush());
    }
    WriteTail();
    return Flush();
  }

  Status Finish() override { return {}; }

 private:
  Status Flush() {
    Status status = settings_.sink(buffer_);
    buffer_.clear();
    return status;
  }

  Status WriteHead() {
    const std::string& id = task_->id;
    std::set<std::string> models;
    bool has_verifier = false;
    for (const Step& step : task_->steps) {
      models.insert(ReadStepFacts(step).model);
      has_verifier = has_verifier || step.kind == RecordKind::kVerifier;
    }
    models.erase("");
    json_.BeginObject().Key("schema_version").String("ATIF-v1.7");
    json_.Key("session_id").String(id).Key("trajectory_id").String(id);
    json_.Key("agent").BeginObject().Key("name").String("kerf");
    json_.Key("version").String(settings_.version);
    if (models.size() == 1) json_.Key("model_name").String(*models.begin());
    if (has_verifier) WriteToolDefinition();
    json_.EndObject();
    json_.Key("extra").BeginObject();
    if (!task_->run.empty()) json_.Key("run").String(task_->run);
    json_.Key("op_name").String(task_->op).Key("task_id").String(task_->task).EndObject();
    json_.Key("steps").BeginArray();
    return {};
  }

  void WriteToolDefinition() {
    json_.Key("tool_definitions").BeginArray().BeginObject().Key("type").String("function");
    json_.Key("function").BeginObject().Key("name").String("verify");
    json_.Key("description").String("Runs the kernel and compares it with the reference.");
    json_.Key("parameters").BeginObject().Key("type").String("object").Key("properties");
    json_.BeginObject().Key("step").BeginObject().Key("type").String("integer").EndObject();
    json_.EndObject().EndObject().EndObject().EndObject().EndArray();
  }

  void BeginStep(const char* source, int64_t time_ns, const std::string& message) {
    json_.BeginObject().Key("step_id").Int(++step_id_);
    json_.Key("timestamp").String(FormatUtc(time_ns));
    json_.Key("source").String(source).Key("message").String(message);
  }

  void WriteCall(const Step& step, const StepTime& time) {
    const StepFacts facts = ReadStepFacts(step);
    totals_.Add(facts);
    const std::string prompt = texts_.Text(*task_, step, "prompt");
    if (!prompt.empty()) {
      BeginStep("user", time.start_ns, prompt);
      WriteExtra(step, time, /*with_meta=*/false);
      json_.EndObject();
    }
    BeginStep("agent", time.end_ns, texts_.Reply(*task_, step));
    if (!facts.model.empty()) json_.Key("model_name").String(facts.model);
    const std::string reasoning = texts_.Text(*task_, step, "reasoning");
    if (!reasoning.empty()) json_.Key("reasoning_content").String(reasoning);
    WriteMetrics(facts);
    json_.Key("llm_call_count").Int(1);
    WriteExtra(step, time, /*with_meta=*/true);
    json_.EndObject();
  }

  void WriteMetrics(const StepFacts& facts) {
    std::string text;
    JsonWriter metrics(text);
    metrics.BeginObject();
    const auto count = [&](const char* name, std::optional<int64_t> value) {
      if (value.has_value()) metrics.Key(name).Int(*value);
    };
    count("prompt_tokens", facts.input_tokens);
    count("completion_tokens", facts.output_tokens);
    count("cached_tokens", facts.cached_tokens);
    if (facts.cost_usd.has_value()) metrics.Key("cost_usd").Double(*facts.cost_usd);
    if (facts.reasoning_tokens.has_value()) {
      metrics.Key("extra").BeginObject().Key("reasoning_tokens").Int(*facts.reasoning_tokens);
      metrics.EndObject();
    }
    metrics.EndObject();
    if (text != "{}") json_.Key("metrics").Raw(text);
  }

  void WriteVerification(const Step& step, const StepTime& time, int64_t judged) {
    const std::string call_id = "verify_" + std::to_string(step_id_ + 1);
    BeginStep("agent", time.end_ns, "");
    json_.Key("tool_calls").BeginArray().BeginObject().Key("tool_call_id").String(call_id);
    json_.Key("function_name").String("verify").Key("arguments").BeginObject();
    if (judged >= 0) {
      json_.Key("step").Int(task_->steps[static_cast<size_t>(judged)].step);
    }
    json_.EndObject().EndObject().EndArray();
    std::string content = texts_.Text(*task_, step, "verify_res");
    if (content.empty()) content = VerificationName(step.verification);
    const std::string log = texts_.Text(*task_, step, "error_log");
    if (!log.empty()) content += "\n\n" + log;
    json_.Key("observation").BeginObject().Key("results").BeginArray().BeginObject();
    json_.Key("source_call_id").String(call_id).Key("content").String(content);
    json_.EndObject().EndArray().EndObject();
    json_.Key("llm_call_count").Int(0);
    WriteExtra(step, time, /*with_meta=*/true);
    json_.EndObject();
  }

  void WriteExtra(const Step& step, const StepTime& time, bool with_meta) {
    json_.Key("extra").BeginObject().Key("step").Int(step.step);
    json_.Key("role").String(RoleOf(step)).Key("action").String(step.action);
    if (!step.check.empty()) json_.Key("check").String(step.check);
    if (step.attempt > 1) json_.Key("attempt").Int(step.attempt);
    if (step.verification != Verification::kNone) {
      json_.Key("verdict").String(VerificationName(step.verification));
    }
    if (time.source != TimeSource::kRecorded) {
      json_.Key("time_source").String(TimeSourceName(time.source));
    }
    if (step.recovered) json_.Key("recovered").Bool(true);
    if (with_meta) {
      const std::string profile = texts_.Text(*task_, step, "profile");
      if (!profile.empty()) json_.Key("profile").Copy(profile);
      if (!step.meta.empty()) json_.Key("meta").Copy(step.meta);
    }
    json_.EndObject();
  }

  void WriteTail() {
    json_.EndArray().Key("final_metrics").BeginObject();
    if (totals_.with_tokens > 0) {
      json_.Key("total_prompt_tokens").Int(totals_.input);
      json_.Key("total_completion_tokens").Int(totals_.output);
      json_.Key("total_cached_tokens").Int(totals_.cached);
    }
    const bool cost_is_whole = totals_.with_cost > 0 && totals_.with_cost == totals_.calls;
    if (cost_is_whole) json_.Key("total_cost_usd").Double(totals_.cost_usd);
    json_.Key("total_steps").Int(step_id_).Key("extra").BeginObject();
    json_.Key("model_calls").Int(totals_.calls);
    json_.Key("calls_without_tokens").Int(totals_.calls - totals_.with_tokens);
    if (!cost_is_whole && totals_.with_cost > 0) {
      json_.Key("known_cost_usd").Double(totals_.cost_usd);
    }
    json_.EndObject().EndObject().EndObject().EndLine();
  }

  FileSystem& fs_;
  const ExportSettings settings_;
  StepTexts texts_;
  std::string buffer_;
  JsonWriter json_;
  const ExportTask* task_ = nullptr;
  int64_t step_id_ = 0;
  Totals totals_;
};

}  // namespace

std::unique_ptr<TaskExporter> MakeAtifExporter(FileSystem& fs, ExportSettings settings) {
  return std::make_unique<AtifExporter>(fs, std::move(settings));
}

}  // namespace kerf::trace
