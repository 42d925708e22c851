#include "loop/verify/test_race.h"

#include <fmt/core.h>

#include <array>

#include "loop/verify/blame.h"
#include "loop/verify/statistics.h"
#include "loop/verify/test_run.h"
#include "loop/verify/torch_extensions.h"

namespace kerf::verify {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kWarmups = 3;
constexpr int kLeastRounds = 10;
constexpr int kMostRounds = 60;
constexpr std::chrono::seconds kMostTime{20};
constexpr double kMostTestUnrest = 0.1;

class TestRace {
 public:
  TestRace(std::chrono::milliseconds timeout, int threads, Verdict& verdict)
      : timeout_(timeout), threads_(threads), verdict_(verdict) {}

  // False when there is nothing to time.
  Result<bool> Enter(const TestSides& sides) {
    const std::array<const StartCandidate*, 2> starts = {&sides.candidate, &sides.label};
    for (size_t k = 0; k < 2; ++k) {
      KERF_ASSIGN_OR_RETURN(runners_[k], (*starts[k])());
      if (!Good(runners_[k]->Load(timeout_), k)) return false;
    }
    return true;
  }

  bool Round(bool counts) {
    // Each goes first as often as the other.
    const size_t first = rounds_++ % 2;
    std::array<double, 2> walls{};
    for (const size_t k : {first, 1 - first}) {
      const Exchange gone = runners_[k]->Go(timeout_);
      if (!Good(gone, k)) return false;
      walls[k] = static_cast<double>(gone.wall.count());
    }
    if (counts) {
      for (size_t k = 0; k < 2; ++k) samples_[k].push_back(walls[k]);
    }
    return Audit();
  }

  [[nodiscard]] TimingReport Report() const {
    TimingReport report;
    report.quantity = "host_wall";
    report.cache_mode = "warm";
    report.warmup_calls = kWarmups;
    report.audits = rounds_;
    report.note = "the whole test, what it does besides calling the kernel included";
    constexpr const char* kNames[] = {"candidate", "label"};
    for (size_t k = 0; k < 2; ++k) {
      report.sides.push_back({kNames[k], samples_[k], Median(samples_[k]),
                              Quantile(samples_[k], 0.1), Quantile(samples_[k], 0.9), ""});
    }
    const Interval ratio = MedianRatio(samples_[1], samples_[0]);
    report.speedups.push_back({"label", ratio.middle, ratio.low, ratio.high,
                               ratio.low > 1    ? "faster"
                               : ratio.high < 1 ? "slower"
                                                : "parity"});
    return report;
  }

  // How far the label differs from itself.
  [[nodiscard]] double Unrest() const {
    const auto middle = samples_[1].begin() + static_cast<std::ptrdiff_t>(samples_[1].size() / 2);
    const double early = Median({samples_[1].begin(), middle});
    const double late = Median({middle, samples_[1].end()});
    return early > 0 && late > 0 ? std::max(early, late) / std::min(early, late) - 1 : 1;
  }

 private:
  bool Good(const Exchange& exchange, size_t side) {
    const Finding finding = JudgeReply(exchange);
    if (exchange.kind == Exchange::Kind::kReplied && !finding.bad()) return true;
    if (side == 0) {
      verdict_.Blame(finding.bad() ? finding.status : VerdictStatus::kRuntimeError,
                     finding.bad() ? finding.reason : "no_result",
                     finding.text + " (while it was timed)");
    } else {
      verdict_.Blame(VerdictStatus::kSuspicious, "unstable",
                     "the label did not run while it was timed: " + finding.text);
    }
    return false;
  }

  bool Audit() {
    const Result<TestResult> got = FetchTestResult(*runners_[0], timeout_);
    const Result<TestResult> wanted = FetchTestResult(*runners_[1], timeout_);
    if (got.ok() && wanted.ok()) {
      const ResultComparison found = CompareResults(*wanted, *got, rounds_, threads_);
      if (!found.finding.bad()) return true;
      verdict_.Blame(VerdictStatus::kCheat, "cached_result",
                     "a timed run gave a wrong result although checked runs were right: " +
                         found.finding.text);
      return false;
    }
    verdict_.Blame(VerdictStatus::kRuntimeError, "no_result",
                   (got.ok() ? wanted : got).error().message + " (while it was timed)");
    return false;
  }

  const std::chrono::milliseconds timeout_;
  const int threads_;
  Verdict& verdict_;
  int rounds_ = 0;
  std::array<std::unique_ptr<Runner>, 2> runners_;
  std::array<std::vector<double>, 2> samples_;
};

bool HasWord(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

std::string WhyNotTimed(const std::string& backend, const Candidate& candidate,
                        const std::string& label) {
  if (backend != "cpu") return "";
  if (candidate.impl == Impl::kTriton) {
    return "without a GPU it runs in Triton's interpreter, which says nothing about its speed";
  }
  if (LanguageOf(candidate.source).gpu) {
    return "without a GPU its kernels are emulated, which says nothing about their speed";
  }
  if (HasWord(label, "import triton")) {
    return "without a GPU the label runs in Triton's interpreter, which is nothing to be faster "
           "than";
  }
  return "";
}

Status RaceTests(const TestSides& sides, std::chrono::milliseconds timeout, int threads,
                 Verdict& verdict) {
  TestRace race(timeout, threads, verdict);
  KERF_ASSIGN_OR_RETURN(const bool ready, race.Enter(sides));
  if (!ready) return {};
  for (int i = 0; i < kWarmups; ++i) {
    if (!race.Round(/*counts=*/false)) return {};
  }
  const auto end = SteadyClock::now() + kMostTime;
  for (int i = 0; i < kMostRounds && (i < kLeastRounds || SteadyClock::now() < end); ++i) {
    if (!race.Round(/*counts=*/true)) return {};
  }
  verdict.timing = race.Report();
  if (race.Unrest() > kMostTestUnrest) {
    verdict.Blame(VerdictStatus::kSuspicious, "unstable",
                  fmt::format("the label differs from itself by {:.0f} %: the machine is too noisy",
                              race.Unrest() * 100));
  }
  verdict.pass_perf = verdict.passed();
  return {};
}

}  // namespace kerf::verify
