#include "cli/render/step_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string FormatDuration(double milliseconds) {
  if (milliseconds <= 0) return "";
  if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
  const double seconds = milliseconds / 1000;
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  if (seconds > 1e15) return fmt::format("{:.3g} s", seconds);  // somebody's mistake, not a time
  const auto whole = static_cast<int64_t>(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string FormatCost(double usd) {
  return usd < 1e9 ? fmt::format("${:.4f}", usd) : fmt::format("${:.3g}", usd);
}

std::string ShortTime(const std::string& time) {
  if (time.size() < 19) return time;
  std::string text = time.substr(0, 19);
  text[10] = ' ';
  return text;
}

Table::Cell VerdictCell(Verification verification) {
  const Style style = verification == Verification::kPassed   ? Style::kGood
                      : verification == Verification::kFailed ? Style::kBad
                                                              : Style::kPlain;
  return {VerificationName(verification), style};
}

void NoteLostLines(int64_t lines, const std::string& op_dir, Output& out) {
  if (lines == 0) return;
  out.Note("kerf: " + std::to_string(lines) + " lines of " + Printable(op_dir) +
           "/journal.jsonl are damaged or missing, and what they told is not shown; 'kerf trace "
           "check' tells more");
}

std::string StepJson(const std::string& run_path, const std::string& op, const Step& step) {
  Json files = Json::array();
  for (const StepFile& file : step.files) {
    Json entry = {{"name", op + "/" + file.name}};
    if (!file.sha256.empty()) {
      entry["bytes"] = file.bytes;
      entry["sha256"] = file.sha256;
      entry["encoding"] = file.encoding;
    }
    files.push_back(std::move(entry));
  }
  Json row = {{"run", run_path},
              {"op_name", op},
              {"task_id", step.task},
              {"step", step.step},
              {"kind", RecordKindName(step.kind)},
              {"action", step.action}};
  if (!step.check.empty()) row["check"] = step.check;
  if (step.attempt > 1) row["attempt"] = step.attempt;
  row["verdict"] = VerificationName(step.verification);
  row["time"] = step.time;
  row["names"] = step.names;
  row["journaled"] = step.journaled;
  row["recovered"] = step.recovered;
  row["files"] = std::move(files);
  if (!step.meta.empty()) row["meta"] = Json::parse(step.meta, nullptr, false);
  return DumpJson(row);
}

std::string DumpJson(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kerf::cli
