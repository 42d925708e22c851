#include <nlohmann/json.hpp>

#include "artifact/verdict.h"
#include "cli/bench/bench_result.h"
#include "cli/render/step_text.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

Json SizesJson(const task::ShrinkReport& sizes) {
  Json changed = Json::array();
  for (const task::SizeChange& one : sizes.changed) {
    changed.push_back({{"name", one.name}, {"line", one.line}, {"from", one.from}, {"to", one.to}});
  }
  return {{"changed", changed},
          {"bytes_before", sizes.bytes_before},
          {"bytes", sizes.bytes},
          {"work_before", sizes.work_before},
          {"work", sizes.work}};
}

Json SpeedupsJson(const std::vector<SpeedupReport>& speedups) {
  Json list = Json::array();
  for (const SpeedupReport& one : speedups) {
    list.push_back({{"baseline", one.baseline},
                    {"speedup", one.speedup},
                    {"low", one.low},
                    {"high", one.high},
                    {"verdict", one.verdict}});
  }
  return list;
}

Json TaskJson(const BenchTask& task) {
  Json json = {{"name", task.name},
               {"path", task.path},
               {"op_name", task.op_name},
               {"task_id", task.task_id},
               {"framework", task.framework},
               {"file_sha256", task.file_sha256},
               {"family", task.family},
               {"outcome", BenchOutcomeName(task.outcome)},
               {"status", task.status},
               {"reason", task.reason},
               {"summary", task.summary},
               {"refusal", nullptr},
               {"sizes", nullptr},
               {"speedups", SpeedupsJson(task.speedups)},
               {"candidate_ns", task.candidate_ns},
               {"share_of_light", task.share_of_light},
               {"verify_dir", task.verify_dir},
               {"framework_version", task.framework_version},
               {"python", task.python},
               {"compiler", task.compiler},
               {"steps", task.steps},
               {"seconds", task.seconds}};
  if (task.refusal.has_value()) {
    json["refusal"] = {{"what", task.refusal->what},
                       {"line", task.refusal->line},
                       {"text", task.refusal->text},
                       {"because", task.refusal->because}};
  }
  if (task.sizes.has_value()) json["sizes"] = SizesJson(*task.sizes);
  return json;
}

Json SettingsJson(const BenchSettings& settings) {
  return {{"impl", settings.impl},
          {"backend", settings.backend},
          {"arch", settings.arch},
          {"model", settings.model},
          {"limit_steps", settings.limit_steps},
          {"max_bytes", settings.max_bytes},
          {"max_work", settings.max_work}};
}

Json RatiosJson(const BenchRatios& ratios, bool with_faster) {
  Json json = {{"measured", ratios.measured}};
  if (with_faster) json["faster"] = ratios.faster;
  json["median"] = ratios.measured > 0 ? Json(ratios.median) : Json(nullptr);
  json["geomean"] = ratios.measured > 0 ? Json(ratios.geomean) : Json(nullptr);
  return json;
}

Json GroupJson(const BenchGroup& group) {
  Json json = {{"name", group.name}, {"tasks", group.tasks}};
  for (const auto outcome : {BenchOutcome::kCorrect, BenchOutcome::kWrong, BenchOutcome::kRefused,
                             BenchOutcome::kUnfit, BenchOutcome::kError}) {
    json[BenchOutcomeName(outcome)] = group.Count(outcome);
  }
  json["eager"] = RatiosJson(group.eager, true);
  json["torch_compile"] = RatiosJson(group.compiled, true);
  json["share_of_light"] = RatiosJson(group.light, false);
  return json;
}

// The functions below throw; ParseBenchLine and TakeVerdict keep that in.
std::vector<SpeedupReport> ReadSpeedups(const Json& list) {
  std::vector<SpeedupReport> speedups;
  for (const Json& one : list) {
    speedups.push_back(
        {one.at("baseline"), one.at("speedup"), one.at("low"), one.at("high"), one.at("verdict")});
  }
  return speedups;
}

task::ShrinkReport ReadSizes(const Json& json) {
  task::ShrinkReport sizes;
  for (const Json& one : json.at("changed")) {
    sizes.changed.push_back({one.at("name"), one.at("line"), one.at("from"), one.at("to")});
  }
  json.at("bytes_before").get_to(sizes.bytes_before);
  json.at("bytes").get_to(sizes.bytes);
  json.at("work_before").get_to(sizes.work_before);
  json.at("work").get_to(sizes.work);
  return sizes;
}

std::optional<BenchOutcome> ParseOutcome(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(BenchOutcome::kCorrect); ++i) {
    const auto outcome = static_cast<BenchOutcome>(i);
    if (name == BenchOutcomeName(outcome)) return outcome;
  }
  return std::nullopt;
}

BenchTask ReadTask(const Json& json) {
  BenchTask task;
  json.at("name").get_to(task.name);
  json.at("path").get_to(task.path);
  json.at("op_name").get_to(task.op_name);
  json.at("task_id").get_to(task.task_id);
  json.at("framework").get_to(task.framework);
  json.at("file_sha256").get_to(task.file_sha256);
  json.at("family").get_to(task.family);
  json.at("status").get_to(task.status);
  json.at("reason").get_to(task.reason);
  json.at("summary").get_to(task.summary);
  if (const Json& refusal = json.at("refusal"); !refusal.is_null()) {
    task.refusal = BenchRefusal{refusal.at("what"), refusal.at("line"), refusal.at("text"),
                                refusal.at("because")};
  }
  if (const Json& sizes = json.at("sizes"); !sizes.is_null()) task.sizes = ReadSizes(sizes);
  task.speedups = ReadSpeedups(json.at("speedups"));
  json.at("candidate_ns").get_to(task.candidate_ns);
  json.at("share_of_light").get_to(task.share_of_light);
  json.at("verify_dir").get_to(task.verify_dir);
  json.at("framework_version").get_to(task.framework_version);
  json.at("python").get_to(task.python);
  json.at("compiler").get_to(task.compiler);
  json.at("steps").get_to(task.steps);
  json.at("seconds").get_to(task.seconds);
  return task;
}

BenchSettings ReadSettings(const Json& json) {
  return {json.at("impl"),        json.at("backend"),   json.at("arch"),    json.at("model"),
          json.at("limit_steps"), json.at("max_bytes"), json.at("max_work")};
}

}  // namespace

std::string BenchTaskJson(const BenchTask& task, const BenchSettings& settings) {
  Json json = TaskJson(task);
  json["settings"] = SettingsJson(settings);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<BenchLine> ParseBenchLine(std::string_view json) {
  try {
    const Json document = Json::parse(json);
    BenchLine line{ReadTask(document), ReadSettings(document.at("settings"))};
    const auto outcome = ParseOutcome(document.at("outcome").get<std::string>());
    if (!outcome.has_value()) return Corrupt("unknown outcome");
    line.task.outcome = *outcome;
    return line;
  } catch (const Json::exception& error) {
    return Corrupt(error.what());
  }
}

Status TakeVerdict(std::string_view verdict_json, BenchTask& task) {
  try {
    const Json verdict = Json::parse(verdict_json);
    verdict.at("task").at("framework_version").get_to(task.framework_version);
    verdict.at("task").at("python").get_to(task.python);
    verdict.at("build").at("compiler").get_to(task.compiler);
    if (verdict.at("status") != VerdictStatusName(VerdictStatus::kPassed)) {
      verdict.at("status").get_to(task.status);
      verdict.at("reason").get_to(task.reason);
      task.summary = "not measured: " + verdict.at("summary").get<std::string>();
      return {};
    }
    const Json& timing = verdict.at("timing");
    if (timing.is_null()) return {};
    task.speedups = ReadSpeedups(timing.at("speedups"));
    timing.at("share_of_light").get_to(task.share_of_light);
    for (const Json& side : timing.at("sides")) {
      if (side.at("name") == "candidate") side.at("median_ns").get_to(task.candidate_ns);
    }
    return {};
  } catch (const Json::exception& error) {
    return Corrupt(error.what());
  }
}

std::string BenchJson(const BenchReport& report) {
  Json families = Json::array();
  for (const BenchGroup& group : ByFamily(report)) families.push_back(GroupJson(group));
  Json tasks = Json::array();
  for (const BenchTask& task : report.tasks) tasks.push_back(TaskJson(task));
  const Json document = {{"ok", true},
                         {"format", "kerf-bench"},
                         {"version", 1},
                         {"kerf", report.kerf},
                         {"date", report.date},
                         {"machine", report.machine},
                         {"threads", report.threads},
                         {"jobs", report.jobs},
                         {"settings", SettingsJson(report.settings)},
                         {"log_dir", report.log_dir},
                         {"not_run", report.not_run},
                         {"total", GroupJson(Total(report))},
                         {"families", families},
                         {"tasks", tasks}};
  return DumpJson(document) + "\n";
}

}  // namespace kerf::cli
