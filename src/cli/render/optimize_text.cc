#include "cli/render/optimize_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/render/run_text.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "loop/optimize/run_files.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string ResultWord(const optimize::CaseReport& one) {
  if (one.solved) return "right";
  if (one.attempts == 0) return one.because.starts_with("not judged") ? "not judged" : "no kernel";
  return one.status;
}

std::string SpeedupText(const optimize::CaseReport& one) {
  if (one.speedup.has_value()) return fmt::format("{:.2f}x", *one.speedup);
  return one.solved ? "not measured" : "";
}

}  // namespace

std::string OptimizeText(const OptimizeResult& result, Output& out) {
  Table table(
      {{"CASE"}, {"RESULT"}, {"SPEEDUP", Align::kRight}, {"ATTEMPTS", Align::kRight}, {"NOTE"}});
  size_t solved = 0;
  for (const optimize::CaseReport& one : result.report.cases) {
    solved += one.solved ? 1 : 0;
    const std::string note = !one.because.empty() ? one.because
                             : one.solved         ? ""
                                                  : one.summary.substr(0, 100);
    table.AddRow({{one.name},
                  {ResultWord(one), one.solved ? Style::kGood : Style::kBad},
                  {SpeedupText(one)},
                  {std::to_string(one.attempts)},
                  {note}});
  }
  std::string text = table.Render(out);
  text += fmt::format("{} of {} cases have a right kernel\n", solved, result.report.cases.size());
  if (const std::string money = MoneyText(result.total); !money.empty()) text += money + "\n";
  if (!result.report.because.empty()) text += "ended: " + result.report.because + "\n";
  if (result.report.last_iteration >= 0) {
    text += "pair:   " + optimize::JsonlPath(result.root, result.report.last_iteration) + ", " +
            optimize::MemPath(result.root, result.report.last_iteration) + "\n";
  }
  text += "trace:  kerf trace ls " + optimize::TracePath(result.root) + "\n";
  return text;
}

std::string OptimizeJson(const OptimizeResult& result) {
  Json cases = Json::array();
  for (const optimize::CaseReport& one : result.report.cases) {
    Json json = {{"name", one.name},       {"trace", one.folder},      {"impl", one.impl},
                 {"solved", one.solved},   {"attempts", one.attempts}, {"status", one.status},
                 {"summary", one.summary}, {"because", one.because},   {"speedup", nullptr},
                 {"code", one.code}};
    if (one.speedup.has_value()) json["speedup"] = *one.speedup;
    cases.push_back(std::move(json));
  }
  const Json document = {{"ok", true},
                         {"root", result.root},
                         {"interrupted", result.interrupted},
                         {"complete", result.report.complete},
                         {"because", result.report.because},
                         {"last_iteration", result.report.last_iteration},
                         {"trace", optimize::TracePath(result.root)},
                         {"cases", cases},
                         {"ledger", Json::parse(result.ledger_json, nullptr, false)}};
  return DumpJson(document) + "\n";
}

int OptimizeExitCode(const OptimizeResult& result) {
  if (result.interrupted) return kExitInterrupted;
  const std::optional<Error>& error = result.report.error;
  if (error.has_value() && !llm::IsBudgetError(*error)) return ExitCodeOf(error->code);
  for (const optimize::CaseReport& one : result.report.cases) {
    if (!one.solved) return kExitNegative;
  }
  return kExitDone;
}

}  // namespace kerf::cli
