#include "loop/verify/test_drive.h"

#include <algorithm>

#include "base/hash.h"
#include "loop/verify/blame.h"
#include "loop/verify/build_report.h"
#include "loop/verify/pybind_symbols.h"
#include "loop/verify/python_candidate.h"
#include "loop/verify/test_race.h"

namespace kerf::verify {
namespace {

// GEAK's own limit for a call.
constexpr std::chrono::seconds kTestTime{120};
// Whoever waits for what its kernels wrote waits for ever when they do nothing.
constexpr std::chrono::seconds kMutedTime{20};

TestDriveOptions Probed(TestDriveOptions options) {
  if (!options.verifier.available.has_value()) options.verifier.available = sandbox::Probe();
  return options;
}

void Blame(const Finding& finding, Verdict& verdict) {
  verdict.Blame(finding.status, finding.reason, finding.text);
  verdict.log += finding.text + "\n";
}

}  // namespace

bool IsTestCode(std::string_view text) {
  return text.find("class Model") == std::string_view::npos &&
         text.find("get_init_inputs") == std::string_view::npos;
}

TestDrive::TestDrive(TestDriveOptions options, Clock& clock)
    : options_(Probed(std::move(options))),
      clock_(clock),
      extensions_(options_.verifier),
      label_(options_.verifier, options_.label, options_.framework_version, Timeout()) {}

std::chrono::milliseconds TestDrive::Timeout() const {
  return options_.verifier.call_timeout.value_or(kTestTime);
}

Verdict TestDrive::Begin(const Candidate& candidate) {
  Verdict verdict;
  verdict.status = VerdictStatus::kPassed;  // until something is found
  verdict.op_name = candidate.op_name;
  verdict.impl = ImplName(candidate.impl);
  verdict.backend = options_.verifier.backend;
  verdict.framework = "torch";
  verdict.candidate_sha256 = Sha256Hex(candidate.source);
  verdict.candidate_bytes = candidate.source.size();
  verdict.candidate_name = candidate.name;
  verdict.task.sha256 = Sha256Hex(options_.verifier.task_text);
  verdict.task.framework_version = options_.framework_version;
  verdict.sandbox = DescribeSandbox(options_.verifier.mode, *options_.verifier.available);
  verdict.kerf_version = options_.verifier.version;
  verdict.started = FormatUtc(clock_.WallNanos());
  return verdict;
}

Result<Verdict> TestDrive::Verify(const Candidate& candidate) {
  const int64_t begin = clock_.MonotonicNanos();
  Verdict verdict = Begin(candidate);
  KERF_ASSIGN_OR_RETURN(const Start start, Prepare(candidate, verdict));
  if (start) KERF_RETURN_IF_ERROR(Judge(start, candidate, verdict));
  verdict.ms = static_cast<double>(clock_.MonotonicNanos() - begin) / 1e6;
  if (verdict.passed() && verdict.summary.empty()) verdict.summary = "passed";
  return verdict;
}

Status TestDrive::CheckLabel() {
  if (label_.empty()) return InvalidInput("there is no label to hold results against");
  const int64_t seed = options_.seeds.front();
  if (label_.Has(seed)) return {};
  Verdict verdict;
  verdict.status = VerdictStatus::kPassed;
  KERF_ASSIGN_OR_RETURN(WarmInterpreter* const interpreter, Scripts(verdict));
  if (interpreter == nullptr) return Unavailable(verdict.summary);
  KERF_ASSIGN_OR_RETURN(const LabelResults::Gold gold, label_.Get(seed, *interpreter));
  return gold.finding.bad() ? Status(InvalidInput(gold.finding.text)) : Status();
}

Result<TestDrive::Start> TestDrive::Prepare(const Candidate& candidate, Verdict& verdict) {
  const bool cpu = options_.verifier.backend == "cpu";
  if (candidate.impl == Impl::kTriton && options_.verifier.backend != "ascend") {
    return PrepareScript(candidate, verdict);
  }
  if (candidate.impl == Impl::kTorchExt && cpu) return PrepareExtension(candidate, verdict);
  verdict.Blame(VerdictStatus::kUnsupported, cpu ? "impl" : "backend",
                "a test of " + std::string(ImplName(candidate.impl)) + " on backend " +
                    options_.verifier.backend + " is not there yet");
  return Start();
}

Result<std::unique_ptr<WarmInterpreter>> TestDrive::StartScripts() {
  RunnerSpec spec = ServerSpec(options_.verifier, {"torch", "triton"});
  if (options_.verifier.backend == "cuda") {
    KERF_ASSIGN_OR_RETURN(Scratch folder, Scratch::Make(options_.verifier.cache_dir + "/scratch"));
    AllowCompiling(folder.path(), options_.verifier.python->include_path, spec);
    compiler_folders_.push_back(std::move(folder));
  }
  return WarmInterpreter::Start(spec);
}

Result<WarmInterpreter*> TestDrive::Scripts(Verdict& verdict) {
  if (scripts_ != nullptr && scripts_->alive()) return scripts_.get();
  Result<std::unique_ptr<WarmInterpreter>> started = StartScripts();
  if (!started.ok() && started.error().code == ErrorCode::kUnavailable) {
    verdict.Blame(VerdictStatus::kUnsupported, "package", started.error().message);
    return static_cast<WarmInterpreter*>(nullptr);
  }
  if (!started.ok()) return std::move(started).error();
  scripts_ = *std::move(started);
  return scripts_.get();
}

Result<TestDrive::Start> TestDrive::PrepareScript(const Candidate& candidate, Verdict& verdict) {
  KERF_ASSIGN_OR_RETURN(WarmInterpreter* const interpreter, Scripts(verdict));
  if (interpreter == nullptr) return Start();
  return Start([this, script = MakeScript(candidate.source, options_.verifier.task_text),
                bytes = candidate.source.size()](const TestPlan& plan) {
    return scripts_->Fork(DescribeScript(plan, bytes, script.test_at), script.text);
  });
}

Result<TestDrive::Start> TestDrive::PrepareExtension(const Candidate& candidate, Verdict& verdict) {
  const BoundSymbols bound = FindBoundSymbols(candidate.source);
  const UsedSymbols used = FindUsedSymbols(options_.verifier.task_text, bound);
  const SymbolDiagnosis symbols = DiagnoseSymbols(bound, used);
  // A module that TORCH_LIBRARY makes is used through torch.ops, which is no import.
  if (symbols.mismatch() && symbols.certain && !bound.module.empty()) {
    verdict.Blame(VerdictStatus::kCallError, "symbol_mismatch",
                  symbols.text.substr(0, symbols.text.find('\n')));
    verdict.log = symbols.text;
    return Start();
  }
  const std::string module = used.module.empty() ? "kerf_" + candidate.op_name : used.module;
  KERF_ASSIGN_OR_RETURN(const std::optional<BuiltExtension> extension,
                        extensions_.Build(candidate, module, verdict));
  if (!extension.has_value()) return Start();
  KERF_ASSIGN_OR_RETURN(const bool ready, extensions_.StartInterpreter(verdict));
  if (!ready) return Start();
  return Start([this, built = *extension](const TestPlan& plan) {
    return extensions_.Fork(DescribeTest(built, plan), options_.verifier.task_text);
  });
}

Status TestDrive::Judge(const Start& start, const Candidate& candidate, Verdict& verdict) {
  int64_t launches = 0;
  for (const int64_t seed : options_.seeds) {
    KERF_RETURN_IF_ERROR(JudgeSeed(start, seed, launches, verdict));
    if (!verdict.passed()) return {};
  }
  if (candidate.impl == Impl::kTriton && launches == 0) {
    Blame({VerdictStatus::kCheat, "library_fallback", "no Triton kernel was launched"}, verdict);
    return {};
  }
  verdict.checks.insert(verdict.checks.end(), {"label", "second_process"});
  if (candidate.impl == Impl::kTriton) KERF_RETURN_IF_ERROR(JudgeMuted(start, verdict));
  if (!verdict.passed()) return {};
  verdict.pass_exe = true;
  return options_.verifier.profile ? Measure(start, candidate, verdict) : Status();
}

Status TestDrive::JudgeSeed(const Start& start, int64_t seed, int64_t& launches, Verdict& verdict) {
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner,
                        start({options_.verifier.backend, seed, false, ""}));
  const TestRun run = RunTest(*runner, Timeout());
  verdict.log += run.log;
  if (run.finding.bad()) {
    if (run.finding.status == VerdictStatus::kWrongValue) {  // an assertion of the test
      verdict.pass_call = true;
      verdict.stage = Stage::kExecute;
    }
    Blame(run.finding, verdict);
    return {};
  }
  verdict.pass_call = true;
  if (label_.empty()) {
    verdict.Blame(VerdictStatus::kUnsupported, "feature",
                  "the test ran to its end; what it computed was not judged, for there is no "
                  "reference to judge it by");
    return {};
  }
  KERF_ASSIGN_OR_RETURN(WarmInterpreter* const interpreter, Scripts(verdict));
  if (interpreter == nullptr) return {};
  KERF_ASSIGN_OR_RETURN(const LabelResults::Gold gold, label_.Get(seed, *interpreter));
  verdict.stage = Stage::kExecute;
  if (gold.finding.bad()) {
    verdict.task.fit = gold.finding.status != VerdictStatus::kTaskUnfit;
    Blame(gold.finding, verdict);
    return {};
  }
  launches = run.result->launches;
  const ResultComparison found =
      CompareResults(*gold.result, *run.result, seed, options_.verifier.threads);
  verdict.cases.push_back({seed, 0, false, 1, found.finding.status, found.finding.reason, {}});
  verdict.cases.back().outputs = found.outputs;
  verdict.log += found.log;
  verdict.Blame(found.finding.status, found.finding.reason, found.finding.text);
  return {};
}

Status TestDrive::JudgeMuted(const Start& start, Verdict& verdict) {
  const int64_t seed = options_.seeds.front();
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner,
                        start({options_.verifier.backend, seed, true, ""}));
  const TestRun run = RunTest(*runner, std::min<std::chrono::milliseconds>(Timeout(), kMutedTime));
  if (!run.result.has_value()) return {};
  KERF_ASSIGN_OR_RETURN(const LabelResults::Gold gold, label_.Get(seed, *scripts_));
  const ResultComparison found =
      CompareResults(*gold.result, *run.result, seed, options_.verifier.threads);
  verdict.checks.emplace_back("muted");
  if (!found.finding.bad()) {
    Blame({VerdictStatus::kCheat, "library_fallback",
           "the result is the same when its kernels do nothing"},
          verdict);
  }
  return {};
}

Status TestDrive::Measure(const Start& start, const Candidate& candidate, Verdict& verdict) {
  verdict.stage = Stage::kPerform;
  verdict.pass_perf = false;
  const std::string why = WhyNotTimed(options_.verifier.backend, candidate, label_.text());
  if (!why.empty()) {
    verdict.summary = "passed; not measured: " + why;
    verdict.stage = Stage::kExecute;
    return {};
  }
  const int64_t seed = options_.seeds.back();
  // The two take turns, so each needs an interpreter of its own.
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<WarmInterpreter> other, StartScripts());
  const TestSides sides{[&] {
                          return start({options_.verifier.backend, seed, false, ""});
                        },
                        [&] { return label_.Start(seed, /*muted=*/false, *other); }};
  return RaceTests(sides, Timeout(), options_.verifier.threads, verdict);
}

}  // namespace kerf::verify
