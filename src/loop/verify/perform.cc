#include "loop/verify/perform.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>

#include "loop/verify/element.h"
#include "loop/verify/statistics.h"
#include "loop/verify/timed_inputs.h"

namespace kerf::verify {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWarmupTime{100};
constexpr int kRoundsPerStep = 10;
// In nanoseconds. Honest runners are within 5 µs on a quiet machine; each of these is what a
// candidate that owns its runner's clock can lie by.
constexpr double kClockSlack = 15e3;
constexpr double kDeviceClockSlack = 50e3;
constexpr double kClockShare = 0.02;
// A baseline may compile on its first call.
constexpr std::chrono::minutes kBaselineWarmup{3};
constexpr size_t kSpotChecks = 1024;
// Below this share of the floor the work was not done; above it the floor may be a little wrong.
constexpr double kLeastShare = 0.7;
constexpr double kMostUnrest = 0.10;
constexpr int kRepeats = 2;  // of a race that the machine's noise spoilt
constexpr std::chrono::seconds kCalmingTime{3};
// A pool of threads that waits a little before it sleeps uses less between calls.
constexpr std::chrono::milliseconds kMostIdleCpu{5};
constexpr double kMostIdleShare = 0.25;
// In budgets. A baseline in TF32 is off by a few hundred budgets of float32.
constexpr double kMostOff = 1e4;

uint64_t Bytes(const std::vector<Argument>& arguments) {
  uint64_t bytes = 0;
  for (const Argument& one : arguments) {
    if (one.kind == Argument::Kind::kTensor) bytes += one.tensor.spec.bytes();
  }
  return bytes;
}

uint64_t CompulsoryBytes(const ReferenceCase& one) {
  uint64_t bytes = Bytes(one.inputs) + Bytes(one.parameters);
  for (const StoredTensor& output : one.outputs) bytes += output.spec.bytes();
  return bytes;
}

class FlushBuffer {
 public:
  explicit FlushBuffer(bool wanted) {
    if (!wanted) return;
    long size = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (size <= 0) size = 64L << 20;
    bytes_.resize(static_cast<size_t>(size) * 2);
  }
  void Stream() {
    for (size_t i = 0; i < bytes_.size(); i += 64) bytes_[i] = static_cast<char>(bytes_[i] + 1);
  }

 private:
  std::vector<char> bytes_;
};

struct Sample {
  double region_ns = 0;
  double wall_ns = 0;
  double ping_ns = 0;  // a round trip without work, just before
};

enum class Clocks { kAgree, kCannotTell, kDiffer };

// A contender that was started and warmed.
struct Side {
  std::string name;
  std::unique_ptr<Runner> runner;
  std::vector<Sample> samples;
  std::string error;
  // Between its calls, while others have their turn.
  SteadyClock::time_point end{};
  std::chrono::nanoseconds cpu_at_end{0};
  std::chrono::nanoseconds idle{0};
  std::chrono::nanoseconds idle_cpu{0};
  // On a machine with much else to do it may want to run and not get a core.
  int times_idle = 0;
  int times_busy = 0;
};

// What the baseline's own error is in budgets, at least 1: of its worst element, and of all.
struct Off {
  double element = 1;
  double rms = 1;
  bool is_yardstick = true;
};

class Race {
 public:
  Race(Expectations& expectations, const PerformOptions& options, IdSource& random,
       Verdict& verdict)
      : expectations_(expectations),
        options_(options),
        random_(random),
        verdict_(verdict),
        flush_(options.cold_cache) {
    for (size_t i = 0; i < expectations.size(); ++i) {
      if (!expectations.one(i).hidden && expectations.one(i).variant == 0) shown_.push_back(i);
    }
  }

  // False when this one cannot take part; a baseline then only has a reason.
  bool Enter(const Contender& contender) {
    Side side{contender.name};
    side.error = contender.error;
    if (side.error.empty()) StartSide(contender, side);
    sides_.push_back(std::move(side));
    return sides_.back().error.empty();
  }

  Status WarmUp() {
    for (const size_t i : shown_) KERF_RETURN_IF_ERROR(TryBaseline(i));
    const auto begin = SteadyClock::now();
    for (int i = 0; i < options_.least_warmups || SteadyClock::now() - begin < kWarmupTime; ++i) {
      KERF_RETURN_IF_ERROR(Round(/*keep=*/false, /*audit=*/false));
      if (!verdict_.passed()) return {};
      ++warmups_;
    }
    return {};
  }

  Status Run() {
    const auto begin = SteadyClock::now();
    std::vector<int> audits;
    for (int i = 0; i < options_.audits; ++i) {
      audits.push_back(
          static_cast<int>(random_.Next() % static_cast<uint64_t>(options_.least_rounds)));
    }
    int left = options_.audits;
    for (int i = 0; i < options_.most_rounds; ++i) {
      const auto audit = static_cast<int>(std::count(audits.begin(), audits.end(), i));
      KERF_RETURN_IF_ERROR(Round(true, audit > 0));
      left -= audit;
      if (!verdict_.passed()) return {};
      const bool late = SteadyClock::now() - begin > options_.most_time;
      if (i + 1 < (late ? options_.fewest_rounds : options_.least_rounds)) continue;
      if (late || ((i + 1) % kRoundsPerStep == 0 && IsSure())) break;
    }
    for (; left > 0 && verdict_.passed(); --left) KERF_RETURN_IF_ERROR(Round(true, true));
    return {};
  }

  TimingReport Report() const {
    TimingReport report;
    report.quantity = "region_time";
    report.cache_mode = options_.cold_cache || options_.device_cold ? "cold" : "warm";
    report.warmup_calls = warmups_;
    report.chip = options_.chip;
    report.audits = audits_;
    for (const Side& side : sides_) {
      TimingSide one{side.name};
      one.samples_ns = Regions(side);
      one.median_ns = Median(one.samples_ns);
      one.p10_ns = Quantile(one.samples_ns, 0.1);
      one.p90_ns = Quantile(one.samples_ns, 0.9);
      one.error = side.error;
      report.sides.push_back(std::move(one));
    }
    for (size_t k = 1; k < sides_.size(); ++k) {
      if (!sides_[k].error.empty()) continue;
      const Interval ratio = MedianRatio(Regions(sides_[k]), Regions(sides_[0]));
      report.speedups.push_back({sides_[k].name, ratio.middle, ratio.low, ratio.high,
                                 ratio.low > 1    ? "faster"
                                 : ratio.high < 1 ? "slower"
                                                  : "parity"});
    }
    report.bytes = static_cast<double>(CompulsoryBytes(expectations_.one(shown_.at(0))));
    report.operations = expectations_.one(shown_.at(0)).operations;
    if (options_.bandwidth > 0) {
      report.floor_ns = report.bytes / options_.bandwidth * 1e9;
    } else if (!options_.device_cold) {
      report.floor_ns = MeasureFloor(static_cast<uint64_t>(report.bytes), options_.threads);
    }
    const double median = report.sides[0].median_ns;
    report.share_of_light = median > 0 ? report.floor_ns / median : 0;
    return report;
  }

  // Whether the runner's clock and the judge's tell the same story. Medians: a busy machine makes
  // single round trips slow, a lying clock all of them.
  [[nodiscard]] Clocks CompareClocks() const {
    std::vector<double> walls;
    std::vector<double> pings;
    for (const Sample& sample : sides_[0].samples) {
      walls.push_back(sample.wall_ns);
      pings.push_back(sample.ping_ns);
    }
    double allowed =
        (options_.device_cold ? kDeviceClockSlack : kClockSlack) + kClockShare * Median(walls);
    if (options_.same_runner && HasBaseline()) allowed += 1.5 * Unaccounted(sides_[1]);
    const double noise = (Quantile(pings, 0.9) - Quantile(pings, 0.1)) / 2;
    const double rest = Unaccounted(sides_[0]);
    if (rest <= allowed) return Clocks::kAgree;
    return rest <= allowed + noise ? Clocks::kCannotTell : Clocks::kDiffer;
  }

  // The first baseline against itself: the two halves of its rounds.
  [[nodiscard]] double Unrest() const {
    if (sides_.size() < 2 || !sides_[1].error.empty()) return 0;
    std::vector<double> even;
    std::vector<double> odd;
    const std::vector<double> all = Regions(sides_[1]);
    for (size_t i = 0; i + 1 < all.size(); i += 2) {
      even.push_back(all[i]);
      odd.push_back(all[i + 1]);
    }
    const double ratio = Median(even) / std::max(Median(odd), 1.0);
    return std::abs(std::log(std::max(ratio, 1e-9)));
  }

  // Whether the candidate kept the processor busy while others had their turn.
  [[nodiscard]] bool HogsTheProcessor() const {
    const Side& side = sides_[0];
    if (side.idle_cpu < kMostIdleCpu) return false;
    return static_cast<double>(side.idle_cpu.count()) >
               kMostIdleShare * static_cast<double>(side.idle.count()) ||
           side.times_busy > side.times_idle / 2;
  }

  void Forget() {
    for (Side& side : sides_) side.samples.clear();
  }

 private:
  void StartSide(const Contender& contender, Side& side) {
    Result<std::unique_ptr<Runner>> started = contender.start();
    if (!started.ok()) {
      side.error = started.error().message;
      return;
    }
    side.runner = *std::move(started);
    const Exchange loaded = side.runner->Load(options_.call_timeout);
    if (loaded.kind != Exchange::Kind::kReplied || loaded.reply.kind != Reply::Kind::kLoaded) {
      side.error = "it does not load: " + loaded.text;
      return;
    }
  }

  // Every side once, on the same fresh inputs.
  Status Round(bool keep, bool audit) {
    const size_t i = shown_[random_.Next() % shown_.size()];
    const ReferenceCase& one = expectations_.one(i);
    // Without a baseline that is right the stored answers are all there is to compare with.
    const bool yardstick = IsYardstick(i);
    const bool fresh = yardstick || !audit;
    Renewal renewal(random_);
    const Placement placement = random_.Next() % 2 == 0 ? Placement::kAtStart : Placement::kAtEnd;
    KERF_ASSIGN_OR_RETURN(
        const InputFile in,
        InputFile::Make(expectations_.reference(), one, expectations_.inputs(i), placement,
                        options_.threads, [&](const StoredTensor& tensor, char* data) {
                          if (fresh) renewal.Apply(tensor.spec, data);
                        }));
    std::vector<OutputFile> outputs;
    for (size_t k = 0; k < sides_.size(); ++k) {
      KERF_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Make(in));
      out.Poison(random_.Next());
      outputs.push_back(std::move(out));
    }
    std::vector<size_t> order(sides_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random_.Next() % k]);
    for (const size_t k : order) {
      if (!sides_[k].error.empty()) continue;
      if (!CallSide(sides_[k], in, outputs[k], keep, k == 0)) return {};
    }
    if (yardstick && IsYardstick(i)) {
      Audit(i, outputs[0], outputs[1]);
    } else if (audit && !fresh) {
      const Judgement judgement = expectations_.Judge(i, outputs[0]);
      if (judgement.finding.bad()) BlameAudit(judgement.finding.text);
    } else {
      SpotCheck(one, outputs[0]);
    }
    if (audit || yardstick) ++audits_;
    // Not timed, so that a runner has time to look more closely at how the result comes about.
    if (audit && verdict_.passed()) KERF_RETURN_IF_ERROR(CallUntimed(in));
    return {};
  }

  [[nodiscard]] bool HasBaseline() const { return sides_.size() > 1 && sides_[1].error.empty(); }
  [[nodiscard]] bool IsYardstick(size_t i) const {
    return HasBaseline() && baseline_off_.at(i).is_yardstick;
  }

  // How far the baseline itself is off where the right answer is known: on a GPU a framework may
  // compute in a lower precision than its tensors have.
  Status TryBaseline(size_t i) {
    Off& off = baseline_off_[i];
    if (!HasBaseline()) return {};
    KERF_ASSIGN_OR_RETURN(
        const InputFile in,
        InputFile::Make(expectations_.reference(), expectations_.one(i), expectations_.inputs(i),
                        Placement::kAtStart, options_.threads));
    KERF_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Make(in));
    out.Poison(random_.Next());
    CallSide(sides_[1], in, out, /*keep=*/false, /*candidate=*/false);
    if (!HasBaseline()) return {};
    for (size_t k = 0; k < expectations_.one(i).outputs.size(); ++k) {
      const Comparison comparison =
          Compare({expectations_.one(i).outputs[k].spec, out.data(k)}, expectations_.expected(i, k),
                  expectations_.budget(i, k), &out.poison(k), options_.threads);
      const bool comparable =
          comparison.right() || (comparison.status == Comparison::Status::kWrongValue &&
                                 !expectations_.budget(i, k).exact());
      off.is_yardstick = off.is_yardstick && comparable && comparison.max_ratio <= kMostOff;
      off.element = std::max(off.element, comparison.max_ratio);
      off.rms = std::max(off.rms, comparison.rms_ratio);
    }
    return {};
  }

  Status CallUntimed(const InputFile& in) {
    KERF_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Make(in));
    out.Poison(random_.Next());
    const Exchange called = sides_[0].runner->Call(in, out, options_.call_timeout);
    const Finding finding = JudgeReply(called);
    if (finding.bad()) verdict_.Blame(finding.status, finding.reason, finding.text);
    sides_[0].cpu_at_end = sides_[0].runner->CpuTime();
    return {};
  }

  // False when the candidate broke, which the verdict then says.
  bool CallSide(Side& side, const InputFile& in, OutputFile& out, bool keep, bool candidate) {
    const std::chrono::milliseconds patience =
        keep || candidate ? options_.call_timeout : options_.call_timeout + kBaselineWarmup;
    if (candidate) NoteIdleTime(side);
    const Exchange mapped = side.runner->Map(in, out, patience);
    const bool ready =
        mapped.kind == Exchange::Kind::kReplied && mapped.reply.kind == Reply::Kind::kReady;
    if (options_.cold_cache) flush_.Stream();
    const Exchange ping = ready ? side.runner->Ping(patience) : mapped;
    const Exchange done = ready ? side.runner->Go(patience) : mapped;
    const bool good = done.kind == Exchange::Kind::kReplied &&
                      done.reply.kind == Reply::Kind::kDone && done.reply.code == 0;
    if (good) {
      // At once where outputs are in the file already: no time for a thread to catch up.
      const bool fetched = options_.same_runner || options_.device_cold || !candidate;
      if (!fetched) out.TakeSnapshot();
      (void)side.runner->Fetch(patience);  // what is not there then is seen in the outputs
      if (fetched) out.TakeSnapshot();
      if (keep) {
        side.samples.push_back({static_cast<double>(done.reply.region_ns),
                                static_cast<double>(done.wall.count()),
                                static_cast<double>(ping.wall.count())});
      }
      return !candidate || Settle(side, patience);
    }
    Finding finding = JudgeReply(done);
    if (!candidate) {
      side.error = finding.bad() ? finding.text : "it ended while it was measured";
      side.samples.clear();
      return true;
    }
    if (!finding.bad()) {
      const Result<sandbox::Outcome>& outcome = side.runner->End();
      finding = outcome.ok()
                    ? JudgeOutcome(*outcome, done.text)
                    : Finding{VerdictStatus::kRuntimeError, "no_result", outcome.error().message};
    }
    verdict_.Blame(finding.status, finding.reason, finding.text + " (while it was timed)");
    return false;
  }

  // Waits until it has cleaned up after a call: what it does from then on it does behind our back.
  bool Settle(Side& side, std::chrono::milliseconds patience) {
    const Exchange ping = side.runner->Ping(patience);
    Finding finding = JudgeReply(ping);
    if (side.runner->CountOthers() > 0) {
      finding = {VerdictStatus::kCheat, "left_process", "it left a process behind"};
    }
    side.cpu_at_end = side.runner->CpuTime();
    side.end = SteadyClock::now();
    if (finding.bad()) {
      verdict_.Blame(finding.status, finding.reason, finding.text + " (while it was timed)");
    }
    return !finding.bad();
  }

  static void NoteIdleTime(Side& side) {
    if (side.end == SteadyClock::time_point()) return;
    side.idle_cpu += side.runner->CpuTime() - side.cpu_at_end;
    side.idle += SteadyClock::now() - side.end;
    ++side.times_idle;
    side.times_busy += side.runner->IsBusy() ? 1 : 0;
  }

  void BlameAudit(const std::string& text) {
    verdict_.Blame(VerdictStatus::kCheat, "cached_result",
                   "a timed call gave a wrong result although checked calls were right: " + text);
  }

  void Audit(size_t i, const OutputFile& got, const OutputFile& wanted) {
    const ReferenceCase& one = expectations_.one(i);
    for (size_t k = 0; k < one.outputs.size(); ++k) {
      const TensorSpec& spec = one.outputs[k].spec;
      Expected expected;
      expected.reference = {spec, wanted.data(k)};
      expected.reduction_length = expectations_.expected(i, k).reduction_length;
      Budget budget = Budget::Make(expected, options_.threads);
      // Without an oracle for these inputs a budget knows nothing of the reference's own errors
      // (attention, long sums). The stored case, whose inputs are almost the same, does; twice as
      // much, because reference and candidate may be off in opposite directions, and twice that for
      // the worst of all elements of all rounds.
      const Off& off = baseline_off_.at(i);
      budget.AllowAsMuchAs(expectations_.budget(i, k), 4 * off.element, 2 * off.rms);
      const Comparison comparison =
          Compare({spec, got.data(k)}, expected, budget, &got.poison(k), options_.threads);
      if (!comparison.right()) BlameAudit(one.outputs[k].name + ": " + comparison.Summary());
    }
  }

  void SpotCheck(const ReferenceCase& one, const OutputFile& got) {
    for (size_t k = 0; k < one.outputs.size(); ++k) {
      const TensorSpec& spec = one.outputs[k].spec;
      // An integer may be equal to the poison by chance.
      if (!IsFloat(spec.dtype) || spec.numel() == 0) continue;
      for (size_t n = 0; n < kSpotChecks; ++n) {
        const uint64_t at = random_.Next() % static_cast<uint64_t>(spec.numel());
        if (!got.poison(k).Matches(got.data(k) + at * DTypeBytes(spec.dtype))) continue;
        verdict_.Blame(VerdictStatus::kCheat, "cached_result",
                       "a timed call left " + one.outputs[k].name + " unwritten at " +
                           CoordinatesText(spec, static_cast<int64_t>(at)));
        return;
      }
    }
  }

  [[nodiscard]] bool IsSure() const {
    for (size_t k = 1; k < sides_.size(); ++k) {
      if (!sides_[k].error.empty()) continue;
      const Interval ratio = MedianRatio(Regions(sides_[k]), Regions(sides_[0]));
      if (ratio.middle <= 0) return false;
      if ((ratio.high - ratio.low) / 2 / ratio.middle > options_.target_width) return false;
    }
    return true;
  }

  // What the judge's clock saw of a call besides a round trip and what the runner measured.
  static double Unaccounted(const Side& side) {
    std::vector<double> rest;
    for (const Sample& sample : side.samples) {
      rest.push_back(sample.wall_ns - sample.ping_ns - sample.region_ns);
    }
    return Median(rest);
  }

  static std::vector<double> Regions(const Side& side) {
    std::vector<double> values;
    for (const Sample& sample : side.samples) values.push_back(sample.region_ns);
    return values;
  }

  Expectations& expectations_;
  const PerformOptions& options_;
  IdSource& random_;
  Verdict& verdict_;
  FlushBuffer flush_;
  std::vector<size_t> shown_;
  std::vector<Side> sides_;
  std::map<size_t, Off> baseline_off_;  // of each shown case
  int64_t warmups_ = 0;
  int64_t audits_ = 0;
};

}  // namespace

Status Perform(const std::vector<Contender>& contenders, Expectations& expectations,
               const PerformOptions& options, IdSource& random, Verdict& verdict) {
  verdict.stage = Stage::kPerform;
  verdict.pass_perf = false;
  Race race(expectations, options, random, verdict);
  for (size_t k = 0; k < contenders.size(); ++k) {
    if (race.Enter(contenders[k]) || k > 0) continue;
    return Unavailable("the candidate could not be started for timing: " + contenders[k].error);
  }
  KERF_RETURN_IF_ERROR(race.WarmUp());
  if (verdict.passed()) KERF_RETURN_IF_ERROR(race.Run());
  // A clock that lies does so again; what disturbed an honest one may end: a compiler, a disk that
  // still writes what was built.
  for (int again = 0; again < kRepeats && verdict.passed(); ++again) {
    if (race.Unrest() <= kMostUnrest && race.CompareClocks() == Clocks::kAgree) break;
    std::this_thread::sleep_for(again * kCalmingTime);
    race.Forget();
    KERF_RETURN_IF_ERROR(race.Run());
  }
  if (!verdict.passed()) return {};
  if (race.HogsTheProcessor()) {
    verdict.Blame(VerdictStatus::kCheat, "background_work",
                  "it kept computing between its timed calls, while the baseline ran");
    return {};
  }
  verdict.timing = race.Report();
  const Clocks clocks = race.CompareClocks();
  if (clocks == Clocks::kDiffer) {
    verdict.Blame(VerdictStatus::kSuspicious, "clock_mismatch",
                  "the runner's clock and the judge's do not tell the same time");
  }
  if (clocks == Clocks::kCannotTell) {
    verdict.Blame(VerdictStatus::kSuspicious, "unstable",
                  "the machine is too noisy to tell whether the runner's clock is right");
  }
  if (race.Unrest() > kMostUnrest) {
    verdict.Blame(
        VerdictStatus::kSuspicious, "unstable",
        fmt::format("the reference differs from itself by {:.0f} %: the machine is too noisy",
                    race.Unrest() * 100));
  }
  if (verdict.timing->share_of_light > 1 / kLeastShare) {
    verdict.Blame(
        VerdictStatus::kSuspicious, "faster_than_light",
        fmt::format("one call takes {:.1f} µs; touching its {:.0f} bytes alone takes {:.1f} µs",
                    verdict.timing->sides[0].median_ns / 1000, verdict.timing->bytes,
                    verdict.timing->floor_ns / 1000));
  }
  verdict.pass_perf = verdict.passed();
  return {};
}

}  // namespace kerf::verify
