#include "artifact/verdict.h"

#include <array>

#include "base/check.h"
#include "base/json_writer.h"

namespace kerf {
namespace {

struct StatusRow {
  const char* name;
  const char* reasons;  // separated by spaces, with one at each end
};

constexpr std::array<StatusRow, 15> kStatusRows = {{
    {"passed", " "},
    {"compile_error",
     " syntax missing_header undefined_symbol toolchain compiler_timeout compiler_memory other "},
    {"call_error",
     " entry_missing load_failed import_failed bad_signature returned_error raised launch_failed "
     "symbol_mismatch "},
    {"wrong_shape", " count shape "},
    {"wrong_dtype", " dtype container "},
    {"wrong_value", " value untouched partly_untouched precision state stale hidden_shape "},
    {"nonfinite", " nan inf "},
    {"runtime_error",
     " segfault abort illegal_instruction arithmetic signal exited exception out_of_bounds_write "
     "out_of_bounds_read input_write no_result barrier race device_error "},
    {"timeout", " call load cpu_time "},
    {"out_of_memory", " memory address_space device_memory "},
    {"sandbox_violation", " syscall output processes file_size tmp_space work_space "},
    {"cheat",
     " background_work left_process forbidden_call library_fallback reference_call timer_patch "
     "cached_result output_alias protocol "},
    {"suspicious", " faster_than_light unstable clock_mismatch "},
    {"task_unfit", " null_baseline nonfinite_reference not_deterministic no_influence "},
    {"unsupported", " impl backend package device dtype feature "},
}};

const StatusRow& Row(VerdictStatus status) { return kStatusRows[static_cast<size_t>(status)]; }

void WriteStrings(JsonWriter& json, const std::vector<std::string>& words) {
  json.BeginArray();
  for (const std::string& word : words) json.String(word);
  json.EndArray();
}

void WriteOutput(JsonWriter& json, const OutputReport& output) {
  json.BeginObject();
  json.Key("name").String(output.name).Key("spec").String(output.spec);
  json.Key("elements").Int(output.elements).Key("beyond").Int(output.beyond);
  json.Key("untouched").Int(output.untouched).Key("nonfinite").Int(output.nonfinite);
  json.Key("max_error").Double(output.max_error).Key("mean_error").Double(output.mean_error);
  json.Key("rms_error").Double(output.rms_error).Key("max_in_budget").Double(output.max_in_budget);
  json.Key("p999_in_budget").Double(output.p999_in_budget);
  json.Key("rms_in_budget").Double(output.rms_in_budget);
  json.Key("worst_index").String(output.worst_index).Key("where").String(output.where);
  json.Key("weak_oracle").Bool(output.weak_oracle).Key("bit_identical").Bool(output.bit_identical);
  json.EndObject();
}

void WriteCase(JsonWriter& json, const CaseReport& one) {
  json.BeginObject();
  json.Key("seed").Int(one.seed).Key("variant").Int(one.variant).Key("hidden").Bool(one.hidden);
  json.Key("calls").Int(one.calls).Key("status");
  // A case that was never called has no status.
  one.calls > 0 ? json.String(VerdictStatusName(one.status)) : json.Null();
  json.Key("reason").String(one.reason).Key("outputs").BeginArray();
  for (const OutputReport& output : one.outputs) WriteOutput(json, output);
  json.EndArray().EndObject();
}

void WriteSide(JsonWriter& json, const TimingSide& side) {
  json.BeginObject().Key("name").String(side.name);
  json.Key("median_ns").Double(side.median_ns).Key("p10_ns").Double(side.p10_ns);
  json.Key("p90_ns").Double(side.p90_ns).Key("samples_ns").BeginArray();
  for (const double sample : side.samples_ns) json.Double(sample);
  json.EndArray().Key("error").String(side.error).EndObject();
}

void WriteTiming(JsonWriter& json, const TimingReport& timing) {
  json.BeginObject().Key("quantity").String(timing.quantity);
  json.Key("cache_mode").String(timing.cache_mode).Key("warmup_calls").Int(timing.warmup_calls);
  json.Key("audits").Int(timing.audits).Key("sides").BeginArray();
  for (const TimingSide& side : timing.sides) WriteSide(json, side);
  json.EndArray().Key("speedups").BeginArray();
  for (const SpeedupReport& one : timing.speedups) {
    json.BeginObject().Key("baseline").String(one.baseline).Key("speedup").Double(one.speedup);
    json.Key("low").Double(one.low).Key("high").Double(one.high);
    json.Key("verdict").String(one.verdict).EndObject();
  }
  json.EndArray().Key("bytes").Double(timing.bytes).Key("operations").Double(timing.operations);
  json.Key("floor_ns").Double(timing.floor_ns);
  json.Key("share_of_light").Double(timing.share_of_light).Key("chip").String(timing.chip);
  json.Key("note").String(timing.note).EndObject();
}

void WriteAikg(JsonWriter& json, const std::vector<AikgReport>& reports) {
  json.Key("compat").BeginObject().Key("aikg").BeginArray();
  for (const AikgReport& report : reports) {
    json.BeginObject().Key("generation").String(report.generation);
    json.Key("passed").Bool(report.passed).Key("err_cnt").Int(report.err_count);
    json.Key("allowed").Int(report.allowed).Key("limit").Double(report.limit);
    json.Key("message").String(report.message).EndObject();
  }
  json.EndArray().EndObject();
}

void WriteParts(JsonWriter& json, const Verdict& verdict) {
  json.Key("candidate").BeginObject().Key("sha256").String(verdict.candidate_sha256);
  json.Key("bytes").Int(static_cast<int64_t>(verdict.candidate_bytes));
  json.Key("name").String(verdict.candidate_name).EndObject();
  json.Key("task").BeginObject().Key("sha256").String(verdict.task.sha256);
  json.Key("fit").Bool(verdict.task.fit).Key("notes");
  WriteStrings(json, verdict.task.notes);
  json.Key("framework_version").String(verdict.task.framework_version);
  json.Key("python").String(verdict.task.python).EndObject();
  json.Key("build").BeginObject().Key("compiler").String(verdict.build.compiler).Key("flags");
  WriteStrings(json, verdict.build.flags);
  json.Key("id").String(verdict.build.id).Key("cached").Bool(verdict.build.cached);
  json.Key("ms").Double(verdict.build.ms).EndObject();
}

}  // namespace

const char* VerdictStatusName(VerdictStatus status) { return Row(status).name; }

std::optional<VerdictStatus> ParseVerdictStatus(std::string_view name) {
  for (size_t i = 0; i < kStatusRows.size(); ++i) {
    if (name == kStatusRows[i].name) return static_cast<VerdictStatus>(i);
  }
  return std::nullopt;
}

bool IsReasonOf(VerdictStatus status, std::string_view reason) {
  if (reason.empty()) return true;
  const std::string word = " " + std::string(reason) + " ";
  return std::string_view(Row(status).reasons).find(word) != std::string_view::npos;
}

const char* StageName(Stage stage) {
  constexpr const char* kNames[] = {"call", "execute", "perform"};
  return kNames[static_cast<size_t>(stage)];
}

void Verdict::Blame(VerdictStatus why, std::string because, std::string in_one_line) {
  KERF_CHECK(IsReasonOf(why, because), "a verdict's reason must be in the documented list");
  if (!passed()) return;
  status = why;
  reason = std::move(because);
  summary = std::move(in_one_line);
}

std::string VerdictJson(const Verdict& verdict) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("format").String("kerf-verdict").Key("version").Int(1);
  json.Key("status").String(VerdictStatusName(verdict.status)).Key("reason").String(verdict.reason);
  json.Key("stage").String(StageName(verdict.stage)).Key("passed").Bool(verdict.passed());
  json.Key("pass_call").Bool(verdict.pass_call).Key("pass_exe").Bool(verdict.pass_exe);
  json.Key("pass_perf");
  verdict.pass_perf.has_value() ? json.Bool(*verdict.pass_perf) : json.Null();
  json.Key("op_name").String(verdict.op_name).Key("impl").String(verdict.impl);
  json.Key("backend").String(verdict.backend).Key("framework").String(verdict.framework);
  json.Key("summary").String(verdict.summary).Key("log").String(verdict.log);
  WriteParts(json, verdict);
  json.Key("cases").BeginArray();
  for (const CaseReport& one : verdict.cases) WriteCase(json, one);
  json.EndArray().Key("deterministic").Bool(verdict.deterministic).Key("timing");
  if (verdict.timing.has_value()) {
    WriteTiming(json, *verdict.timing);
  } else {
    json.Null();
  }
  json.Key("sandbox").BeginObject().Key("mode").String(verdict.sandbox.mode);
  json.Key("level").String(verdict.sandbox.level).Key("missing");
  WriteStrings(json, verdict.sandbox.missing);
  json.EndObject().Key("checks");
  WriteStrings(json, verdict.checks);
  if (!verdict.aikg.empty()) WriteAikg(json, verdict.aikg);
  json.Key("kerf").String(verdict.kerf_version).Key("started").String(verdict.started);
  json.Key("ms").Double(verdict.ms).Key("phases_ms").BeginObject();
  for (const auto& [name, ms] : verdict.phases_ms) json.Key(name).Double(ms);
  json.EndObject().EndObject();
  return text;
}

}  // namespace kerf
