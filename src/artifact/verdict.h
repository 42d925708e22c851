// What kerf found out about one candidate. docs/formats/verdict.md explains every field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kerf {

// Closed. The order is that of docs/formats/verdict.md.
enum class VerdictStatus {
  kPassed,
  kCompileError,
  kCallError,
  kWrongShape,
  kWrongDType,
  kWrongValue,
  kNonFinite,
  kRuntimeError,
  kTimeout,
  kOutOfMemory,
  kSandboxViolation,
  kCheat,
  kSuspicious,
  kTaskUnfit,
  kUnsupported,
};

const char* VerdictStatusName(VerdictStatus status);
std::optional<VerdictStatus> ParseVerdictStatus(std::string_view name);
// Whether docs/formats/verdict.md lists the reason for the status; empty is always allowed.
bool IsReasonOf(VerdictStatus status, std::string_view reason);

enum class Stage { kCall, kExecute, kPerform };

const char* StageName(Stage stage);

struct OutputReport {
  std::string name;
  std::string spec;
  int64_t elements = 0;
  int64_t beyond = 0;     // outside the error budget
  int64_t untouched = 0;  // still hold what kerf filled the buffer with
  int64_t nonfinite = 0;  // NaN or infinity where the reference has none, or the other way round
  double max_error = 0;
  double mean_error = 0;
  double rms_error = 0;
  double max_in_budget = 0;   // the worst error in units of its budget; above 1 is wrong
  double p999_in_budget = 0;  // of 1000 elements 999 are better
  double rms_in_budget = 0;   // RMS error in units of its limit
  std::string worst_index;    // "[15, 3]"
  std::string where;          // what the wrong elements have in common, when that is seen
  bool weak_oracle = false;
  bool bit_identical = false;
};

struct CaseReport {
  int64_t seed = 0;
  int64_t variant = 0;
  bool hidden = false;
  int calls = 0;
  VerdictStatus status = VerdictStatus::kPassed;
  std::string reason;
  std::vector<OutputReport> outputs;
};

struct BuildReport {
  std::string compiler;
  std::vector<std::string> flags;
  std::string id;
  bool cached = false;
  double ms = 0;
};

struct TaskReport {
  std::string sha256;
  bool fit = true;
  std::vector<std::string> notes;
  std::string framework_version;
  std::string python;
};

struct SandboxReport {
  std::string mode;
  std::string level;
  std::vector<std::string> missing;  // "landlock: the kernel has none"
};

// Samples of one side, in nanoseconds.
struct TimingSide {
  std::string name;  // "candidate", "eager", "torch.compile"
  std::vector<double> samples_ns;
  double median_ns = 0;
  double p10_ns = 0;
  double p90_ns = 0;
  std::string error;  // why there are no samples
};

struct SpeedupReport {
  std::string baseline;
  double speedup = 0;  // of medians over pairs
  double low = 0;      // 95 % confidence interval
  double high = 0;
  std::string verdict;  // "faster", "slower", "parity"
};

struct TimingReport {
  std::string quantity;    // "host_wall", "region_time", "device_time"
  std::string cache_mode;  // "cold", "warm"
  int64_t warmup_calls = 0;
  int64_t audits = 0;
  std::vector<TimingSide> sides;  // the candidate first
  std::vector<SpeedupReport> speedups;
  double bytes = 0;       // compulsory traffic of one call
  double operations = 0;  // of products; 0: none, or unknown
  double floor_ns = 0;    // speed of light; 0: unknown
  double share_of_light = 0;
  std::string chip;
  std::string note;
};

struct AikgReport {
  bool passed = false;
  std::string generation;  // "seed", "head"
  int64_t err_count = 0;
  int64_t allowed = 0;
  double limit = 0;
  std::string message;
};

struct Verdict {
  VerdictStatus status = VerdictStatus::kUnsupported;
  std::string reason;
  Stage stage = Stage::kCall;
  bool pass_call = false;
  bool pass_exe = false;
  std::optional<bool> pass_perf;
  std::string op_name;
  std::string impl;
  std::string backend;
  std::string framework;
  std::string summary;  // one line
  std::string log;      // what a model needs to repair the candidate
  std::string candidate_sha256;
  uint64_t candidate_bytes = 0;
  std::string candidate_name;
  TaskReport task;
  BuildReport build;
  std::vector<CaseReport> cases;
  bool deterministic = true;
  std::optional<TimingReport> timing;
  SandboxReport sandbox;
  std::vector<std::string> checks;
  std::vector<AikgReport> aikg;
  std::string kerf_version;
  std::string started;
  double ms = 0;
  std::vector<std::pair<std::string, double>> phases_ms;

  [[nodiscard]] bool passed() const { return status == VerdictStatus::kPassed; }
  // Every result was right. The machine may have been too noisy to say how fast it is: that is
  // nothing to repair in the kernel, and there is no speedup to believe.
  [[nodiscard]] bool correct() const {
    return passed() || (status == VerdictStatus::kSuspicious && reason == "unstable");
  }
  // First cause wins: does nothing when the verdict is already negative.
  void Blame(VerdictStatus why, std::string because, std::string in_one_line);
};

// One line, as docs/formats/verdict.md shows it.
std::string VerdictJson(const Verdict& verdict);

}  // namespace kerf
