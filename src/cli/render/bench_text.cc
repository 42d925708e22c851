#include "cli/render/bench_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/render/table.h"

namespace kerf::cli {
namespace {

std::string TimesText(std::optional<double> speedup) {
  return speedup.has_value() ? fmt::format("{:.2f}x", *speedup) : "";
}

std::string TimesText(const BenchRatios& ratios, double value) {
  return ratios.measured > 0 ? fmt::format("{:.2f}x", value) : "";
}

std::string ShareText(double share) { return share > 0 ? fmt::format("{:.0f}%", share * 100) : ""; }

Style StyleOf(BenchOutcome outcome) {
  if (outcome == BenchOutcome::kCorrect) return Style::kGood;
  return outcome == BenchOutcome::kWrong ? Style::kBad : Style::kWarn;
}

std::string Bytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const char* unit = "KiB";
  double value = static_cast<double>(bytes) / 1024;
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string TasksText(const BenchReport& report, const Output& out) {
  Table table({{"TASK"},
               {"FAMILY"},
               {"RESULT"},
               {"EAGER", Align::kRight},
               {"COMPILE", Align::kRight},
               {"LIGHT", Align::kRight},
               {"WHY"}});
  for (const BenchTask& task : report.tasks) {
    const bool correct = task.outcome == BenchOutcome::kCorrect;
    table.AddRow({{task.name},
                  {task.family},
                  {BenchOutcomeName(task.outcome), StyleOf(task.outcome)},
                  {TimesText(task.Speedup(kEager))},
                  {TimesText(task.Speedup(kCompiled))},
                  {correct ? ShareText(task.share_of_light) : ""},
                  {WhyText(task)}});
  }
  return table.Render(out);
}

std::string FamiliesText(const BenchReport& report, const Output& out) {
  Table table({{"FAMILY"},
               {"TASKS", Align::kRight},
               {"CORRECT", Align::kRight},
               {"EAGER GEOMEAN", Align::kRight},
               {"MEDIAN", Align::kRight},
               {"FASTER", Align::kRight},
               {"COMPILE GEOMEAN", Align::kRight},
               {"MEDIAN", Align::kRight},
               {"FASTER", Align::kRight},
               {"LIGHT", Align::kRight}});
  std::vector<BenchGroup> groups = ByFamily(report);
  groups.push_back(Total(report));
  const auto faster = [](const BenchRatios& ratios) {
    return ratios.measured > 0 ? fmt::format("{}/{}", ratios.faster, ratios.measured) : "";
  };
  for (const BenchGroup& group : groups) {
    table.AddRow({{group.name},
                  {std::to_string(group.tasks)},
                  {std::to_string(group.Count(BenchOutcome::kCorrect))},
                  {TimesText(group.eager, group.eager.geomean)},
                  {TimesText(group.eager, group.eager.median)},
                  {faster(group.eager)},
                  {TimesText(group.compiled, group.compiled.geomean)},
                  {TimesText(group.compiled, group.compiled.median)},
                  {faster(group.compiled)},
                  {ShareText(group.light.median)}});
  }
  return table.Render(out);
}

}  // namespace

std::string SizesText(const task::ShrinkReport& sizes) {
  std::string text;
  for (const task::SizeChange& one : sizes.changed) {
    text += fmt::format("{}{} {} → {}", text.empty() ? "" : ", ", one.name, one.from, one.to);
  }
  return text + "; " + Bytes(sizes.bytes_before) + " → " + Bytes(sizes.bytes);
}

std::string WhyText(const BenchTask& task) {
  if (task.outcome == BenchOutcome::kCorrect) return task.summary;
  if (task.refusal.has_value()) {
    const BenchRefusal& refusal = *task.refusal;
    std::string text = refusal.what;
    if (refusal.line > 0) text += fmt::format(" (line {}: `{}`)", refusal.line, refusal.text);
    return refusal.because.empty() ? text : text + ": " + refusal.because;
  }
  std::string text = task.status;
  if (!task.reason.empty()) text += " (" + task.reason + ")";
  return task.summary.empty() ? text : text + ": " + task.summary;
}

std::vector<const BenchTask*> WrongFirst(const BenchReport& report) {
  std::vector<const BenchTask*> tasks;
  for (const BenchTask& task : report.tasks) tasks.push_back(&task);
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const BenchTask* a, const BenchTask* b) { return a->outcome < b->outcome; });
  return tasks;
}

std::string BenchText(const BenchReport& report, const Output& out) {
  std::string text = TasksText(report, out) + "\n" + FamiliesText(report, out);
  bool first = true;
  for (const BenchTask& task : report.tasks) {
    if (!task.sizes.has_value() || task.sizes->changed.empty()) continue;
    if (std::exchange(first, false)) text += "\nmade smaller, for both sides:\n";
    text += "  " + task.name + "  " + SizesText(*task.sizes) + "\n";
  }
  const BenchGroup total = Total(report);
  text += fmt::format("\n{} of {} correct", total.Count(BenchOutcome::kCorrect), total.tasks);
  for (const auto outcome :
       {BenchOutcome::kWrong, BenchOutcome::kRefused, BenchOutcome::kUnfit, BenchOutcome::kError}) {
    if (total.Count(outcome) == 0) continue;
    text += fmt::format(", {} {}", total.Count(outcome), BenchOutcomeName(outcome));
  }
  if (report.not_run > 0) text += fmt::format(", {} not run", report.not_run);
  return text + "\ntraces: " + report.log_dir + "\n";
}

}  // namespace kerf::cli
