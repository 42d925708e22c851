#include "cli/render/run_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "loop/conduct/failed_calls.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ResultJson(const RunResult& result) {
  const conduct::TaskOutcome& outcome = result.outcome;
  Json json = {{"op_name", result.spec.op_name},     {"task_id", result.spec.task_id},
               {"impl", ImplName(result.spec.impl)}, {"backend", result.spec.backend},
               {"arch", result.spec.arch},           {"success", outcome.success},
               {"because", outcome.because},         {"steps", outcome.steps}};
  if (outcome.best.has_value()) {
    json["step"] = outcome.best->step;
    if (outcome.best->speedup.has_value()) json["speedup"] = *outcome.best->speedup;
    json["verify_dir"] = outcome.best_dir;
    json["code"] = outcome.best->code;
  }
  if (outcome.error.has_value()) {
    json["error"] = {{"code", ErrorCodeName(outcome.error->code)},
                     {"message", outcome.error->message}};
  }
  return json;
}

}  // namespace

std::string MoneyText(const llm::Account& total) {
  if (total.tokens() == 0) return "";
  // Some endpoints do not count; kerf then goes by the length of the texts.
  const bool estimated = total.usage.source == llm::Usage::Source::kEstimated;
  std::string text = fmt::format("{}{} tokens in {} calls", estimated ? "about " : "",
                                 total.tokens(), total.calls);
  if (total.cost > 0) text += fmt::format(", ${:.4f}", static_cast<double>(total.cost) / 1e9);
  if (total.unpriced_tokens > 0) text += ", price unknown";
  return text;
}

std::string RunText(const RunReport& report, Output& out) {
  Table table({{"TASK"},
               {"RESULT"},
               {"SPEEDUP", Align::kRight},
               {"STEPS", Align::kRight},
               {"WHY IT ENDED"}});
  size_t passed = 0;
  for (const RunResult& result : report.results) {
    const conduct::TaskOutcome& outcome = result.outcome;
    passed += outcome.success ? 1 : 0;
    const bool measured = outcome.best.has_value() && outcome.best->speedup.has_value();
    table.AddRow(
        {{result.spec.op_name + "/" + result.spec.task_id},
         {outcome.success ? "passed" : "no kernel", outcome.success ? Style::kGood : Style::kBad},
         {measured ? fmt::format("{:.2f}x", *outcome.best->speedup) : ""},
         {std::to_string(outcome.steps)},
         {outcome.because}});
  }
  std::string text = table.Render(out);
  for (const RunResult& result : report.results) {
    if (result.outcome.best_dir.empty()) continue;
    text += "kernel: " + JoinPath(report.log_dir, result.outcome.best_dir) + "\n";
  }
  if (report.results.size() > 1) {
    text += fmt::format("{} of {} passed\n", passed, report.results.size());
  }
  if (!report.skipped.empty()) {
    text += fmt::format("{} files were skipped: they are no usable tasks\n", report.skipped.size());
  }
  if (const std::string money = MoneyText(report.total); !money.empty()) text += money + "\n";
  if (report.failed_calls) {
    text += "calls without a reply: " + JoinPath(report.log_dir, conduct::kFailedCallsName) + "\n";
  }
  const bool one = report.results.size() == 1;
  text += std::string("trace:  kerf trace ") + (one ? "show " : "ls ") + report.log_dir + "\n";
  return text;
}

std::string RunJson(const RunReport& report) {
  Json results = Json::array();
  for (const RunResult& result : report.results) results.push_back(ResultJson(result));
  const bool success = std::all_of(report.results.begin(), report.results.end(),
                                   [](const RunResult& result) { return result.outcome.success; });
  const Json document = {{"ok", true},
                         {"success", success && report.skipped.empty()},
                         {"log_dir", report.log_dir},
                         {"interrupted", report.interrupted},
                         {"tasks", results},
                         {"skipped", report.skipped},
                         {"ignored", report.ignored},
                         {"ledger", Json::parse(report.ledger_json, nullptr, false)}};
  return DumpJson(document) + "\n";
}

int RunExitCode(const RunReport& report) {
  if (report.interrupted) return kExitInterrupted;
  int code = report.skipped.empty() ? kExitDone : kExitNegative;
  for (const RunResult& result : report.results) {
    const std::optional<Error>& error = result.outcome.error;
    // An endpoint that lets nobody in is set up wrongly, and a disk that is full has lost
    // something, even where there is a kernel.
    const bool serious = error.has_value() && !llm::IsBudgetError(*error) &&
                         (error->code == ErrorCode::kDenied || error->code == ErrorCode::kIo);
    if (result.outcome.success && !serious) continue;
    if (!result.outcome.success) code = std::max(code, kExitNegative);
    // What this machine or an endpoint lacks weighs more than a kernel that is wrong, refused or
    // too expensive.
    if (error.has_value() && error->code != ErrorCode::kInvalidInput &&
        error->code != ErrorCode::kNotFound && !llm::IsBudgetError(*error)) {
      return ExitCodeOf(error->code);
    }
  }
  return code;
}

Status CheckOutput(const Args& args, size_t tasks, FileSystem& fs) {
  const std::string path = args.Get("--output");
  if (path.empty()) return {};
  if (tasks != 1) return InvalidInput("--output takes the kernel of one task");
  if (path == "-")
    return InvalidInput("--output takes the name of a file; --json has the code too");
  KERF_ASSIGN_OR_RETURN(const auto folder, fs.Stat(ParentPath(path)));
  if (!folder.has_value()) return NotFound("--output: there is no folder " + ParentPath(path));
  KERF_ASSIGN_OR_RETURN(const auto there, fs.Stat(path));
  if (there.has_value() && there->kind == FileKind::kDirectory) {
    return InvalidInput("--output " + path + " is a folder; name a file");
  }
  // It is replaced as a whole: a device or a link would be gone.
  if (there.has_value() && there->kind != FileKind::kFile) {
    return InvalidInput("--output " + path + " is no regular file; name another");
  }
  for (const std::string& task : args.Positionals()) {
    std::error_code ignored;
    if (there.has_value() && std::filesystem::equivalent(path, task, ignored)) {
      return InvalidInput("--output " + path + " is the task itself; name another file");
    }
  }
  return {};
}

Status KeepOutput(const Args& args, FileSystem& fs, const std::vector<RunResult>& results) {
  const std::string path = args.Get("--output");
  if (path.empty()) return {};
  if (!results.front().outcome.best.has_value()) return {};
  return WriteFileAtomic(fs, path, results.front().outcome.best->code);
}

}  // namespace kerf::cli
