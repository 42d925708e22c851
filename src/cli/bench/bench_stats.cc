#include <algorithm>
#include <cmath>
#include <map>

#include "artifact/graph_family.h"
#include "cli/bench/bench_result.h"
#include "cli/verb.h"

namespace kerf::cli {
namespace {

const SpeedupReport* Find(const BenchTask& task, std::string_view baseline) {
  if (task.outcome != BenchOutcome::kCorrect) return nullptr;
  for (const SpeedupReport& one : task.speedups) {
    if (one.baseline == baseline && one.speedup > 0) return &one;
  }
  return nullptr;
}

BenchRatios Against(const std::vector<const BenchTask*>& tasks, std::string_view baseline) {
  std::vector<double> values;
  int64_t faster = 0;
  for (const BenchTask* task : tasks) {
    if (const auto speedup = task->Speedup(baseline)) values.push_back(*speedup);
    faster += task->Faster(baseline) ? 1 : 0;
  }
  BenchRatios ratios = MakeRatios(std::move(values));
  ratios.faster = faster;
  return ratios;
}

}  // namespace

const char* BenchOutcomeName(BenchOutcome outcome) {
  constexpr const char* kNames[] = {"wrong", "error", "unfit", "refused", "correct"};
  return kNames[static_cast<int>(outcome)];
}

std::optional<double> BenchTask::Speedup(std::string_view baseline) const {
  const SpeedupReport* found = Find(*this, baseline);
  return found == nullptr ? std::nullopt : std::optional(found->speedup);
}

bool BenchTask::Faster(std::string_view baseline) const {
  const SpeedupReport* found = Find(*this, baseline);
  return found != nullptr && found->verdict == "faster";
}

BenchRatios MakeRatios(std::vector<double> values) {
  BenchRatios ratios;
  ratios.measured = static_cast<int64_t>(values.size());
  if (values.empty()) return ratios;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  ratios.median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  ratios.geomean = std::exp(logs / static_cast<double>(values.size()));
  return ratios;
}

BenchGroup Summarize(const std::string& name, const std::vector<const BenchTask*>& tasks) {
  BenchGroup group;
  group.name = name;
  group.tasks = static_cast<int64_t>(tasks.size());
  std::vector<double> shares;
  for (const BenchTask* task : tasks) {
    ++group.of[static_cast<int>(task->outcome)];
    if (task->outcome == BenchOutcome::kCorrect && task->share_of_light > 0) {
      shares.push_back(task->share_of_light);
    }
  }
  group.eager = Against(tasks, kEager);
  group.compiled = Against(tasks, kCompiled);
  group.light = MakeRatios(std::move(shares));
  return group;
}

BenchGroup Total(const BenchReport& report) {
  std::vector<const BenchTask*> tasks;
  for (const BenchTask& task : report.tasks) tasks.push_back(&task);
  return Summarize("all", tasks);
}

std::vector<BenchGroup> ByFamily(const BenchReport& report) {
  std::map<std::string, std::vector<const BenchTask*>> tasks;
  for (const BenchTask& task : report.tasks) {
    tasks[task.family.empty() ? "unknown" : task.family].push_back(&task);
  }
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(GraphFamily::kChain); ++i) {
    names.emplace_back(GraphFamilyName(static_cast<GraphFamily>(i)));
  }
  names.emplace_back("unknown");
  std::vector<BenchGroup> groups;
  for (const std::string& name : names) {
    if (tasks.count(name) != 0) groups.push_back(Summarize(name, tasks[name]));
  }
  return groups;
}

int BenchExitCode(const BenchReport& report) {
  if (report.not_run > 0) return kExitInterrupted;
  const bool good = std::all_of(report.tasks.begin(), report.tasks.end(), [](const auto& task) {
    return task.outcome == BenchOutcome::kCorrect;
  });
  return good ? kExitDone : kExitNegative;
}

}  // namespace kerf::cli
