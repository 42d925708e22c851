#include "loop/verify/test_drive.h"

#include "base/hash.h"
#include "loop/verify/blame.h"
#include "loop/verify/build_report.h"
#include "loop/verify/pybind_symbols.h"
#include "loop/verify/python_candidate.h"
#include "loop/verify/simt_findings.h"

namespace kerf::verify {
namespace {

// GEAK's own limit for a call.
constexpr std::chrono::seconds kTestTime{120};

VerifierOptions Probed(VerifierOptions options) {
  if (!options.available.has_value()) options.available = sandbox::Probe();
  return options;
}

}  // namespace

bool IsTestCode(std::string_view text) {
  return text.find("class Model") == std::string_view::npos &&
         text.find("get_init_inputs") == std::string_view::npos;
}

TestDrive::TestDrive(VerifierOptions options, std::string label, std::string framework_version,
                     Clock& clock)
    : options_(Probed(std::move(options))),
      label_(std::move(label)),
      framework_version_(std::move(framework_version)),
      clock_(clock),
      extensions_(options_) {}

Result<Verdict> TestDrive::Verify(const Candidate& candidate) {
  const int64_t begin = clock_.MonotonicNanos();
  Verdict verdict;
  verdict.status = VerdictStatus::kPassed;  // until something is found
  verdict.op_name = candidate.op_name;
  verdict.impl = ImplName(candidate.impl);
  verdict.backend = options_.backend;
  verdict.framework = "torch";
  verdict.candidate_sha256 = Sha256Hex(candidate.source);
  verdict.candidate_bytes = candidate.source.size();
  verdict.candidate_name = candidate.name;
  verdict.task.sha256 = Sha256Hex(options_.task_text);
  verdict.task.framework_version = framework_version_;
  verdict.sandbox = DescribeSandbox(options_.mode, *options_.available);
  verdict.kerf_version = options_.version;
  verdict.started = FormatUtc(clock_.WallNanos());
  KERF_RETURN_IF_ERROR(Drive(candidate, verdict));
  if (verdict.passed()) {
    verdict.pass_call = true;
    verdict.Blame(
        VerdictStatus::kUnsupported, "feature",
        label_.empty()
            ? "the test ran to its end; what it computed was not judged, for there is no "
              "reference to judge it by"
            : "the test ran to its end, and its result_gold is like the label's where both "
              "have one; that was compared in the candidate's own process, which proves "
              "nothing");
  }
  verdict.ms = static_cast<double>(clock_.MonotonicNanos() - begin) / 1e6;
  return verdict;
}

std::string TestDrive::WithTest(const std::string& code) const {
  // GEAK's own separator; the lines of the code keep their numbers.
  return code + "\n" + std::string(146, '#') + "\n" + options_.task_text;
}

std::string TestDrive::LabelWithTest() const {
  // What describes a candidate travels in one packet.
  constexpr size_t kMost = size_t{512} << 10;
  if (label_.empty() || label_.size() + options_.task_text.size() > kMost) return "";
  return WithTest(label_);
}

Status TestDrive::DriveScript(const Candidate& candidate, Verdict& verdict) {
  Result<std::unique_ptr<WarmInterpreter>> interpreter =
      WarmInterpreter::Start(ServerSpec(options_, {"torch", "triton"}));
  if (!interpreter.ok() && interpreter.error().code == ErrorCode::kUnavailable) {
    verdict.Blame(VerdictStatus::kUnsupported, "package", interpreter.error().message);
    return {};
  }
  if (!interpreter.ok()) return std::move(interpreter).error();
  KERF_ASSIGN_OR_RETURN(
      const std::unique_ptr<Runner> runner,
      (*interpreter)
          ->Fork(DescribeScript(options_.backend, LabelWithTest()), WithTest(candidate.source)));
  Judge(runner->Load(options_.call_timeout.value_or(kTestTime)), *runner, verdict);
  return {};
}

Status TestDrive::Drive(const Candidate& candidate, Verdict& verdict) {
  if (candidate.impl == Impl::kTriton && options_.backend == "cpu") {
    return DriveScript(candidate, verdict);
  }
  if (options_.backend != "cpu") {
    verdict.Blame(VerdictStatus::kUnsupported, "backend",
                  "a test of " + std::string(ImplName(candidate.impl)) + " on backend " +
                      options_.backend + " is not there yet");
    return {};
  }
  const BoundSymbols bound = FindBoundSymbols(candidate.source);
  const UsedSymbols used = FindUsedSymbols(options_.task_text, bound);
  const SymbolDiagnosis symbols = DiagnoseSymbols(bound, used);
  // A module that TORCH_LIBRARY makes is used through torch.ops, which is no import.
  if (symbols.mismatch() && symbols.certain && !bound.module.empty()) {
    verdict.Blame(VerdictStatus::kCallError, "symbol_mismatch",
                  symbols.text.substr(0, symbols.text.find('\n')));
    verdict.log = symbols.text;
    return {};
  }
  const std::string module = used.module.empty() ? "kerf_" + candidate.op_name : used.module;
  KERF_ASSIGN_OR_RETURN(const std::optional<BuiltExtension> extension,
                        extensions_.Build(candidate, module, verdict));
  if (!extension.has_value()) return {};
  KERF_ASSIGN_OR_RETURN(const bool ready, extensions_.StartInterpreter(verdict));
  if (!ready) return {};
  KERF_ASSIGN_OR_RETURN(
      const std::unique_ptr<Runner> runner,
      extensions_.Fork(DescribeTest(*extension, options_.backend, LabelWithTest()),
                       options_.task_text));
  Judge(runner->Load(options_.call_timeout.value_or(kTestTime)), *runner, verdict);
  return {};
}

void TestDrive::Judge(const Exchange& loaded, Runner& runner, Verdict& verdict) const {
  Finding finding = JudgeReply(loaded);
  const bool replied = loaded.kind == Exchange::Kind::kReplied;
  if (!finding.bad() && !replied) {
    const Result<sandbox::Outcome>& outcome = runner.End();
    finding = outcome.ok() ? JudgeOutcome(*outcome, "")
                           : Finding{VerdictStatus::kRuntimeError, "no_result",
                                     "the process gave no answer"};
  }
  // What an emulated kernel was caught at says more than how the process ended.
  const SimtFindings caught = ReadSimtFindings(runner.TakeFindings());
  verdict.log += caught.log;
  if (caught.worst.bad()) {
    verdict.Blame(caught.worst.status, caught.worst.reason, caught.worst.text);
  }
  if (!finding.bad()) return;
  if (finding.status == VerdictStatus::kWrongValue) {
    verdict.pass_call = true;
    verdict.stage = Stage::kExecute;
  }
  verdict.Blame(finding.status, finding.reason, finding.text);
  verdict.log += finding.text + "\n";
}

}  // namespace kerf::verify
