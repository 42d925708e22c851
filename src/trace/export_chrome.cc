// Slices of one thread must not overlap, or viewers draw nonsense. A run that was recorded after
// the fact has all its times at its end, so a slice that would begin before the one before it ended
// is moved behind it; `recorded` keeps the time as it was.

#include "trace/export_chrome.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/json_writer.h"
#include "trace/step_facts.h"

namespace kerf::trace {
namespace {

constexpr size_t kChromeFlushBytes = 256 << 10;

struct Slice {
  int64_t start_us = 0;
  int64_t length_us = 1;  // shorter ones cannot hold the end of an arrow
  bool moved = false;
  bool guessed = false;  // no duration was recorded: the gap since the step before stands for it
};

std::vector<Slice> Layout(const std::vector<StepTime>& times) {
  std::vector<Slice> slices;
  int64_t free_from = 0;  // end of the slice before
  for (const StepTime& time : times) {
    Slice slice;
    slice.start_us = time.start_ns / 1000;
    const int64_t end_us = time.end_ns / 1000;
    if (!time.has_duration && !slices.empty()) {
      slice.guessed = true;
      slice.start_us = std::min(free_from, end_us);
    }
    slice.length_us = std::max<int64_t>(1, end_us - slice.start_us);
    if (slice.start_us < free_from) {
      slice.moved = !slice.guessed;
      slice.start_us = free_from;
    }
    free_from = slice.start_us + slice.length_us;
    slices.push_back(slice);
  }
  return slices;
}

class ChromeExporter : public TaskExporter {
 public:
  ChromeExporter(FileSystem& fs, ExportSettings settings)
      : fs_(fs), settings_(std::move(settings)), texts_(fs, *settings_.unreadable), json_(buffer_) {
    json_.BeginObject().Key("displayTimeUnit").String("ms");
    json_.Key("otherData").BeginObject().Key("producer").String("kerf " + settings_.version);
    json_.EndObject().Key("traceEvents").BeginArray();
  }

  Status Add(const ExportTask& task) override {
    task_ = &task;
    BeginThread();
    const std::vector<StepTime> times = TimesOf(fs_, task);
    const std::vector<Slice> slices = Layout(times);
    const std::vector<int64_t> judged = JudgedRecords(task.steps);
    // Arrows leave a slice that is written before the one they lead to.
    std::map<int64_t, std::vector<int64_t>> arrows_from;
    std::vector<int64_t> arrow_to(judged.size(), 0);
    for (size_t i = 0; i < judged.size(); ++i) {
      if (judged[i] < 0) continue;
      arrow_to[i] = ++arrows_;
      arrows_from[judged[i]].push_back(arrow_to[i]);
    }
    int64_t tokens_in = 0;
    int64_t tokens_out = 0;
    for (size_t i = 0; i < task.steps.size(); ++i) {
      const StepFacts facts = ReadStepFacts(task.steps[i]);
      WriteSlice(task.steps[i], facts, slices[i], times[i]);
      for (const int64_t arrow : arrows_from[static_cast<int64_t>(i)])
        WriteArrow('s', arrow, slices[i]);
      if (arrow_to[i] != 0) WriteArrow('f', arrow_to[i], slices[i]);
      if (facts.input_tokens.has_value() || facts.output_tokens.has_value()) {
        tokens_in += facts.input_tokens.value_or(0);
        tokens_out += facts.output_tokens.value_or(0);
        WriteTokens(slices[i], tokens_in, tokens_out);
      }
      if (buffer_.size() >= kChromeFlushBytes) KERF_RETURN_IF_ERROR(Flush());
    }
    return {};
  }

  Status Finish() override {
    json_.EndArray().EndObject().EndLine();
    return Flush();
  }

 private:
  Status Flush() {
    Status status = settings_.sink(buffer_);
    buffer_.clear();
    return status;
  }

  JsonWriter& BeginEvent(const char* phase, std::string_view name) {
    buffer_ += '\n';  // one event per line
    json_.BeginObject().Key("ph").String(phase).Key("name").String(name);
    return json_.Key("pid").Int(process_).Key("tid").Int(thread_);
  }

  // A process for each operator, a thread for each task, with their names.
  void BeginThread() {
    const std::string process = task_->run.empty() ? task_->op : task_->run + "/" + task_->op;
    ++thread_;
    if (process_ == 0 || process != process_name_ || task_->op_dir != op_dir_) {
      ++process_;
      thread_ = 1;
      process_name_ = process;
      op_dir_ = task_->op_dir;
      WriteName("process_name", process);
    }
    WriteName("thread_name", "task " + task_->task);
    BeginEvent("M", "thread_sort_index").Key("args").BeginObject();
    json_.Key("sort_index").Int(thread_).EndObject().EndObject();
  }

  void WriteName(const char* what, const std::string& name) {
    BeginEvent("M", what).Key("args").BeginObject().Key("name").String(name);
    json_.EndObject().EndObject();
  }

  void WriteSlice(const Step& step, const StepFacts& facts, const Slice& slice,
                  const StepTime& time) {
    std::string name = step.kind == RecordKind::kConductor ? step.check : step.action;
    if (step.verification != Verification::kNone) {
      name += std::string(" ") + VerificationName(step.verification);
    }
    BeginEvent("X", name).Key("cat").String(RoleOf(step));
    json_.Key("ts").Int(slice.start_us).Key("dur").Int(slice.length_us);
    json_.Key("args").BeginObject().Key("step").Int(step.step);
    Fact("verdict", VerificationName(step.verification));
    Fact("model", facts.model);
    Fact("provider", facts.provider);
    Fact("device", facts.device);
    Fact("finish_reason", facts.finish_reason);
    Fact("error", facts.error);
    Count("tokens_input", facts.input_tokens);
    Count("tokens_output", facts.output_tokens);
    Count("tokens_cached", facts.cached_tokens);
    Count("tokens_reasoning", facts.reasoning_tokens);
    if (facts.cost_usd.has_value()) json_.Key("cost_usd").Double(*facts.cost_usd);
    if (facts.speedup.has_value()) json_.Key("speedup").Double(*facts.speedup);
    Fact("recorded", FormatUtc(time.end_ns));
    if (time.source != TimeSource::kRecorded) Fact("time_source", TimeSourceName(time.source));
    if (slice.moved) json_.Key("moved").Bool(true);
    if (!time.has_duration) Fact("duration", slice.guessed ? "gap before it" : "unknown");
    if (settings_.content) WriteTexts(step);
    json_.EndObject().EndObject();
  }

  void WriteTexts(const Step& step) {
    for (const char* parameter : {"prompt", "reasoning", "result", "verify_res", "error_log"}) {
      Fact(parameter, texts_.Text(*task_, step, parameter));
    }
    const std::string profile = texts_.Text(*task_, step, "profile");
    if (!profile.empty()) json_.Key("profile").Copy(profile);
  }

  void Fact(const char* name, std::string_view value) {
    if (!value.empty()) json_.Key(name).String(value);
  }

  void Count(const char* name, std::optional<int64_t> value) {
    if (value.has_value()) json_.Key(name).Int(*value);
  }

  void WriteArrow(char phase, int64_t id, const Slice& slice) {
    BeginEvent(phase == 's' ? "s" : "f", "verify").Key("cat").String("verify").Key("id").Int(id);
    if (phase == 'f') json_.Key("bp").String("e");  // ends at the slice around it, not the next one
    json_.Key("ts").Int(slice.start_us).EndObject();
  }

  void WriteTokens(const Slice& slice, int64_t tokens_in, int64_t tokens_out) {
    BeginEvent("C", "tokens of task " + task_->task);
    json_.Key("ts").Int(slice.start_us + slice.length_us).Key("args").BeginObject();
    json_.Key("input").Int(tokens_in).Key("output").Int(tokens_out).EndObject().EndObject();
  }

  FileSystem& fs_;
  const ExportSettings settings_;
  StepTexts texts_;
  std::string buffer_;
  JsonWriter json_;
  const ExportTask* task_ = nullptr;
  std::string process_name_;
  std::string op_dir_;
  int64_t process_ = 0;
  int64_t thread_ = 0;
  int64_t arrows_ = 0;
};

}  // namespace

std::unique_ptr<TaskExporter> MakeChromeExporter(FileSystem& fs, ExportSettings settings) {
  return std::make_unique<ChromeExporter>(fs, std::move(settings));
}

}  // namespace kerf::trace
