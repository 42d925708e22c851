// What `kerf bench` found out: one row for each task, and where and how that was. The JSON is
// docs/formats/bench.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/verdict.h"
#include "base/result.h"
#include "loop/task/task_shrink.h"

namespace kerf::cli {

// In the order in which a reader wants to see them.
enum class BenchOutcome {
  kWrong,    // a kernel was judged, and none passed
  kError,    // kerf could not find out: the task does not run, or the machine lacks something
  kUnfit,    // the task cannot tell right from wrong, or this kerf cannot judge it
  kRefused,  // nobody wrote a kernel, and the refusal says why
  kCorrect,
};
const char* BenchOutcomeName(BenchOutcome outcome);

// What the synthesizer cannot do, or capture cannot follow.
struct BenchRefusal {
  std::string what;  // "aten.grid_sampler_2d.default", "data-dependent control flow"
  int64_t line = 0;  // of the task file; 0 when unknown
  std::string text;  // that line
  std::string because;
};

struct BenchTask {
  std::string name;  // "19_ReLU": the file's, with its number
  std::string path;
  std::string op_name;
  std::string task_id;
  std::string framework;
  std::string file_sha256;  // of the file, before it was made smaller
  std::string family;       // empty when there is no graph
  BenchOutcome outcome = BenchOutcome::kError;
  std::string status;   // of the last verdict, or the error's code
  std::string reason;   // of that verdict
  std::string summary;  // in one line
  std::optional<BenchRefusal> refusal;
  std::optional<task::ShrinkReport> sizes;  // what --max-bytes changed
  // Of the best kernel.
  std::vector<SpeedupReport> speedups;
  double candidate_ns = 0;
  double share_of_light = 0;  // 0: unknown
  std::string verify_dir;
  std::string framework_version;
  std::string python;
  std::string compiler;
  int64_t steps = 0;
  double seconds = 0;

  // Against "eager" or "torch.compile", when it was measured and the kernel is correct.
  [[nodiscard]] std::optional<double> Speedup(std::string_view baseline) const;
  [[nodiscard]] bool Faster(std::string_view baseline) const;
};

// What must be the same for all rows of one table.
struct BenchSettings {
  std::string impl;
  std::string backend;
  std::string arch;
  std::string model;
  int64_t limit_steps = 0;
  int64_t max_bytes = 0;  // 0: tasks as they are
  int64_t max_work = 0;   // 0: no limit

  bool operator==(const BenchSettings&) const = default;
};

struct BenchReport {
  std::string kerf;     // "kerf 0.1.0 (…)"
  std::string date;     // when it ended, UTC
  std::string machine;  // "AMD EPYC, 2 processors"
  std::string log_dir;
  BenchSettings settings;
  int64_t threads = 0;
  int64_t jobs = 0;
  int64_t not_run = 0;  // interrupted before them
  std::vector<BenchTask> tasks;
};

inline constexpr char kEager[] = "eager";
inline constexpr char kCompiled[] = "torch.compile";

// How a group of tasks compares with one baseline.
struct BenchRatios {
  int64_t measured = 0;
  int64_t faster = 0;  // beyond doubt: the whole confidence interval is
  double median = 0;
  double geomean = 0;
};

struct BenchGroup {
  std::string name;
  int64_t tasks = 0;
  int64_t of[5] = {};  // by outcome
  BenchRatios eager;
  BenchRatios compiled;
  BenchRatios light;  // shares of the speed of light; `faster` means nothing

  [[nodiscard]] int64_t Count(BenchOutcome outcome) const { return of[static_cast<int>(outcome)]; }
};

// Medians are of an even number of values the mean of the middle two; 0 when there are none.
BenchRatios MakeRatios(std::vector<double> values);
BenchGroup Summarize(const std::string& name, const std::vector<const BenchTask*>& tasks);
BenchGroup Total(const BenchReport& report);
// One for each family that has a task, in the order of artifact/graph_family.h; tasks without a
// graph last, as "unknown".
std::vector<BenchGroup> ByFamily(const BenchReport& report);

// A task as one JSON object, without a line end; what was written is read back the same.
std::string BenchTaskJson(const BenchTask& task, const BenchSettings& settings);
struct BenchLine {
  BenchTask task;
  BenchSettings settings;
};
// kCorrupt with what is wrong.
Result<BenchLine> ParseBenchLine(std::string_view json);
// Takes speedups and versions from a verdict.json.
Status TakeVerdict(std::string_view verdict_json, BenchTask& task);
// The whole document and a line end.
std::string BenchJson(const BenchReport& report);

// 0 when all are correct, 1 when not, 130 when some were not run.
int BenchExitCode(const BenchReport& report);

}  // namespace kerf::cli
