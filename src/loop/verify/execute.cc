#include "loop/verify/execute.h"

#include <algorithm>
#include <future>
#include <map>

#include "base/hash.h"
#include "loop/verify/simt_findings.h"
#include "sandbox/stop_scope.h"

namespace kerf::verify {
namespace {

constexpr size_t kMostOutput = 2000;  // of what the candidate printed, in the log

// A process, and what it said when it was told to load the candidate.
struct Started {
  Result<std::unique_ptr<Runner>> runner;
  Exchange loaded;
};

Started StartAndLoad(const StartCandidate& start, std::chrono::milliseconds timeout) {
  Started started{start(), {}};
  if (started.runner.ok()) started.loaded = (*started.runner)->Load(timeout);
  return started;
}

// Everything two processes have in common.
class Trial {
 public:
  Trial(Expectations& expectations, const ExecuteOptions& options, IdSource& random,
        Verdict& verdict)
      : expectations_(expectations), options_(options), random_(random), verdict_(verdict) {
    for (size_t i = 0; i < expectations.size(); ++i) {
      const ReferenceCase& one = expectations.one(i);
      verdict.cases.push_back({one.seed, one.variant, one.hidden});
    }
  }

  // One process. `order`: cases; each is called once for each placement.
  Status Round(Started started, const std::vector<size_t>& order,
               const std::vector<Placement>& placements) {
    if (!started.runner.ok()) return std::move(started.runner).error();
    Runner& runner = **started.runner;
    if (!Accept(started.loaded, runner, /*loading=*/true)) return {};
    bool watch = true;
    for (const size_t i : order) {
      for (const Placement placement : placements) {
        KERF_RETURN_IF_ERROR(CallOnce(runner, i, placement, watch));
        if (!verdict_.passed()) return {};
        watch = i == order.back();
      }
    }
    ++round_;
    return {};
  }

 private:
  Status CallOnce(Runner& runner, size_t i, Placement placement, bool watch) {
    const ReferenceCase& one = expectations_.one(i);
    KERF_ASSIGN_OR_RETURN(const InputFile in,
                          InputFile::Make(expectations_.reference(), one, expectations_.inputs(i),
                                          placement, options_.threads));
    KERF_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Make(in));
    out.Poison(random_.Next());
    const uint64_t before = in.Checksum();
    const Exchange called = runner.Call(in, out, options_.call_timeout, watch);
    CaseReport& report = verdict_.cases[i];
    ++report.calls;
    if (!Accept(called, runner, /*loading=*/false)) {
      Mark(report);
      return {};
    }
    // It returned from a call; what it returned is the next stage's matter.
    verdict_.pass_call = true;
    verdict_.stage = Stage::kExecute;
    JudgeFindings(runner);
    if (in.Checksum() != before) {
      verdict_.Blame(VerdictStatus::kRuntimeError, "input_write", "it changed an input");
    }
    const std::string canary = out.DamagedCanary();
    if (!canary.empty()) {
      verdict_.Blame(VerdictStatus::kRuntimeError, "out_of_bounds_write", "it wrote " + canary);
      verdict_.log = "write " + canary + "\n";
    }
    // Before the outputs: what is missing there may still be in the making.
    if (watch) {
      const Finding finding = JudgeWatch(called);
      if (finding.bad()) verdict_.Blame(finding.status, finding.reason, finding.text);
    }
    if (verdict_.passed()) JudgeOutputs(i, called, out);
    Mark(report);
    return {};
  }

  void JudgeOutputs(size_t i, const Exchange& called, const OutputFile& out) {
    const Finding shapes = CheckSpecs(i, called.text);
    if (shapes.bad()) {
      verdict_.Blame(shapes.status, shapes.reason, shapes.text);
      verdict_.log = shapes.text + "\n";
      return;
    }
    const uint64_t hash = HashOutputs(i, out);
    const auto seen = hashes_.find(i);
    if (seen != hashes_.end() && seen->second == hash) return;  // judged before
    if (seen != hashes_.end()) verdict_.deterministic = false;
    Judgement judgement = expectations_.Judge(i, out);
    if (options_.compat_aikg && verdict_.aikg.empty()) {
      verdict_.aikg = expectations_.JudgeLikeAikg(i, out);
    }
    CaseReport& report = verdict_.cases[i];
    report.outputs = std::move(judgement.outputs);
    if (judgement.finding.bad()) {
      Finding finding = Refine(judgement.finding, i, hash, seen != hashes_.end());
      verdict_.Blame(finding.status, finding.reason, finding.text);
      verdict_.log = report.hidden ? finding.text + "\n" : judgement.log;
    }
    hashes_.emplace(i, hash);
  }

  // A wrong value says more when one knows what else was right.
  Finding Refine(Finding finding, size_t i, uint64_t hash, bool seen) const {
    if (finding.status != VerdictStatus::kWrongValue) return finding;
    const ReferenceCase& one = expectations_.one(i);
    const bool stale = std::any_of(hashes_.begin(), hashes_.end(),
                                   [&](const auto& other) { return other.second == hash; });
    if (stale) {
      finding.reason = "stale";
      finding.text += "; the output is that of an earlier call with other inputs";
    } else if (one.hidden && !hashes_.empty()) {
      finding.reason = "hidden_shape";
      finding.text = "right on the shapes shown, wrong on another one (a size that was not shown)";
    } else if (seen || round_ > 0) {
      finding.reason = "state";
      finding.text += "; the same inputs gave a right result in another call";
    }
    return finding;
  }

  // What an emulated kernel was caught at. Comes before its results: they are worth nothing then.
  void JudgeFindings(Runner& runner) {
    const SimtFindings findings = ReadSimtFindings(runner.TakeFindings());
    if (findings.worst.bad()) {
      verdict_.Blame(findings.worst.status, findings.worst.reason, findings.worst.text);
    }
    if (findings.worst.bad() || verdict_.log.size() < kMostOutput) verdict_.log += findings.log;
  }

  // Python runners tell what the candidate returned; native ones have no choice.
  Finding CheckSpecs(size_t i, const std::string& text) const {
    if (text.empty()) return {};
    std::string wanted;
    for (const StoredTensor& output : expectations_.one(i).outputs) {
      wanted += output.spec.ToString() + ";";
    }
    if (text == wanted) return {};
    const auto count = [](const std::string& list) {
      return std::count(list.begin(), list.end(), ';');
    };
    const std::string what = "expected " + wanted + " got " + text;
    if (text.find('!') != std::string::npos) {
      return {VerdictStatus::kWrongDType, "container", "an output is no plain tensor: " + what};
    }
    if (count(text) != count(wanted)) return {VerdictStatus::kWrongShape, "count", what};
    return DTypesOf(text) == DTypesOf(wanted) ? Finding{VerdictStatus::kWrongShape, "shape", what}
                                              : Finding{VerdictStatus::kWrongDType, "dtype", what};
  }

  static std::string DTypesOf(const std::string& specs) {
    std::string types;
    bool inside = false;
    for (const char c : specs) {
      if (c == '[') inside = true;
      if (!inside) types += c;
      if (c == ']') inside = false;
    }
    return types;
  }

  // False, with the blame in the verdict, when there is nothing to look at.
  bool Accept(const Exchange& exchange, Runner& runner, bool loading) {
    const bool replied = exchange.kind == Exchange::Kind::kReplied;
    const bool fault = replied && exchange.reply.kind == Reply::Kind::kFault;
    Finding finding = JudgeReply(exchange);
    if (!finding.bad() && !fault && replied) return true;
    const Result<sandbox::Outcome>& outcome = runner.End();
    if (!finding.bad() && outcome.ok())
      finding = JudgeOutcome(*outcome, fault ? exchange.text : "");
    if (loading && finding.status == VerdictStatus::kTimeout) finding.reason = "load";
    if (!finding.bad()) {
      finding = {VerdictStatus::kRuntimeError, "no_result", "the process gave no answer"};
    }
    JudgeFindings(runner);
    verdict_.Blame(finding.status, finding.reason, finding.text);
    if (verdict_.log.empty()) verdict_.log = finding.text + "\n";
    if (outcome.ok()) AddPrinted(*outcome);
    return false;
  }

  void AddPrinted(const sandbox::Outcome& outcome) {
    for (const auto* text : {&outcome.stderr_text, &outcome.stdout_text}) {
      if (text->empty()) continue;
      const size_t begin = text->size() > kMostOutput ? text->size() - kMostOutput : 0;
      verdict_.log += std::string(text == &outcome.stderr_text ? "stderr" : "stdout") + ":\n" +
                      text->substr(begin) + "\n";
    }
  }

  uint64_t HashOutputs(size_t i, const OutputFile& out) const {
    uint64_t hash = 0;
    const auto& outputs = expectations_.one(i).outputs;
    for (size_t k = 0; k < outputs.size(); ++k) {
      hash = hash * 31 + Xxh3({out.data(k), outputs[k].spec.bytes()});
    }
    return hash;
  }

  void Mark(CaseReport& report) const {
    report.status = verdict_.status;
    report.reason = verdict_.reason;
  }

  Expectations& expectations_;
  const ExecuteOptions& options_;
  IdSource& random_;
  Verdict& verdict_;
  std::map<size_t, uint64_t> hashes_;  // of the outputs of each case, when first seen
  int round_ = 0;
};

}  // namespace

Status Execute(const Loadable& candidate, Expectations& expectations, const ExecuteOptions& options,
               IdSource& random, Verdict& verdict) {
  std::vector<size_t> shown;
  std::vector<size_t> all;
  for (size_t i = 0; i < expectations.size(); ++i) {
    all.push_back(i);
    if (!expectations.one(i).hidden) shown.push_back(i);
  }
  std::reverse(all.begin(), all.end());
  Trial trial(expectations, options, random, verdict);
  const auto start = [&] { return StartAndLoad(candidate.start, options.call_timeout); };
  std::future<Started> second;
  if (candidate.independent) {
    second = std::async(std::launch::async, [&start, stop = sandbox::StopScope::Current()] {
      const sandbox::StopScope scope(stop);
      return start();
    });
  }
  // Python candidates get copies of the tensors: where those lay in the judge's file makes no
  // difference to them.
  std::vector<Placement> placements = {Placement::kAtStart};
  if (candidate.native) placements.push_back(Placement::kAtEnd);
  if (!candidate.native) shown.push_back(shown.front());  // one of them again, late
  KERF_RETURN_IF_ERROR(trial.Round(start(), shown, placements));
  if (!verdict.passed()) return {};
  KERF_RETURN_IF_ERROR(
      trial.Round(second.valid() ? second.get() : start(), all, {Placement::kAtEnd}));
  if (!verdict.passed()) return {};
  verdict.pass_exe = true;
  verdict.checks.insert(verdict.checks.end(),
                        {"poison", "fresh_addresses", "repeat", "second_process", "background"});
  if (candidate.native) {
    verdict.checks.insert(verdict.checks.end(), {"guard_pages", "canary", "inputs_sealed"});
  }
  return {};
}

}  // namespace kerf::verify
