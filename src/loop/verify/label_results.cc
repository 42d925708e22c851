#include "loop/verify/label_results.h"

#include "base/hash.h"
#include "base/ids.h"
#include "loop/verify/cache_sweep.h"
#include "loop/verify/pybind_symbols.h"
#include "loop/verify/python_candidate.h"

namespace kerf::verify {

TestScript MakeScript(const std::string& code, const std::string& test) {
  TestScript script;
  script.text = code + "\n" + std::string(146, '#') + "\n";
  script.test_at = script.text.size();
  script.text += test;
  return script;
}

LabelResults::LabelResults(const VerifierOptions& options, std::string label, std::string kind,
                           std::chrono::milliseconds timeout)
    : options_(options), label_(std::move(label)), kind_(std::move(kind)), timeout_(timeout) {}

bool LabelResults::Has(int64_t seed) {
  if (golds_.count(seed) != 0) return true;
  const std::string path = PathOf(seed);
  Result<std::string> bytes = fs_->ReadFile(path);
  if (!bytes.ok()) return false;
  Result<TestResult> kept = ParseTestResult(*std::move(bytes));
  if (!kept.ok()) return false;
  TouchFile(path);
  golds_[seed] = {{}, std::make_shared<const TestResult>(*std::move(kept))};
  return true;
}

Result<LabelResults::Gold> LabelResults::Get(int64_t seed, WarmInterpreter& interpreter) {
  if (Has(seed)) return golds_[seed];
  KERF_ASSIGN_OR_RETURN(Gold gold, Make(seed, interpreter));
  golds_[seed] = gold;
  return gold;
}

Result<LabelResults::Gold> LabelResults::Make(int64_t seed, WarmInterpreter& interpreter) const {
  KERF_ASSIGN_OR_RETURN(TestRun run, Run(seed, /*muted=*/false, interpreter));
  if (run.finding.bad()) {
    return Gold{{VerdictStatus::kUnsupported, "feature",
                 "the label does not run here, so that there is nothing to hold results against: " +
                     run.finding.text},
                nullptr};
  }
  if (run.result->empty()) {
    return Gold{{VerdictStatus::kUnsupported, "feature",
                 "the test leaves no result_gold with the label: its results are not judged"},
                nullptr};
  }
  if (golds_.empty()) {
    KERF_ASSIGN_OR_RETURN(Finding doubt, Doubt(*run.result, seed, interpreter));
    if (doubt.bad()) return Gold{std::move(doubt), nullptr};
  }
  Keep(PathOf(seed), run.result->bytes);
  return Gold{{}, std::make_shared<const TestResult>(*std::move(run.result))};
}

Result<std::unique_ptr<Runner>> LabelResults::Start(int64_t seed, bool muted,
                                                    WarmInterpreter& interpreter) const {
  const TestScript script = MakeScript(label_, options_.task_text);
  const TestPlan plan{options_.backend, seed, muted,
                      FindUsedSymbols(options_.task_text, BoundSymbols()).module};
  return interpreter.Fork(DescribeScript(plan, /*code_bytes=*/0, script.test_at), script.text);
}

Result<TestRun> LabelResults::Run(int64_t seed, bool muted, WarmInterpreter& interpreter) const {
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner, Start(seed, muted, interpreter));
  return RunTest(*runner, timeout_);
}

Result<Finding> LabelResults::Doubt(const TestResult& gold, int64_t seed,
                                    WarmInterpreter& interpreter) const {
  KERF_ASSIGN_OR_RETURN(const TestRun again, Run(seed, /*muted=*/false, interpreter));
  const bool same = again.result.has_value() &&
                    !CompareResults(gold, *again.result, seed, options_.threads).finding.bad();
  if (!same) {
    return Finding{VerdictStatus::kTaskUnfit, "not_deterministic",
                   "the test computes something else with the label each time it runs"};
  }
  if (gold.launched.empty()) return Finding{};
  KERF_ASSIGN_OR_RETURN(const TestRun muted, Run(seed, /*muted=*/true, interpreter));
  if (muted.result.has_value() &&
      !CompareResults(gold, *muted.result, seed, options_.threads).finding.bad()) {
    return Finding{VerdictStatus::kTaskUnfit, "null_baseline",
                   "the test's results are the same when the label's kernels do nothing"};
  }
  return Finding{};
}

std::string LabelResults::PathOf(int64_t seed) const {
  const char nul = '\0';
  std::string key = "1" + std::string(1, nul) + label_ + nul + options_.task_text + nul + kind_;
  key += nul + options_.backend + nul + options_.chip + nul + BaseName(options_.resource_dir);
  key += nul + std::to_string(seed);
  return JoinPath(JoinPath(options_.cache_dir, "golds"), Sha256Hex(key) + ".bin");
}

void LabelResults::Keep(const std::string& path, const std::string& bytes) const {
  if (!fs_->CreateDirs(ParentPath(path)).ok()) return;
  // Under a name of its own first: another process may be at it.
  const std::string own = path + "." + Hex64(MakeRandomIds()->Next());
  if (!WriteFileAtomic(*fs_, own, bytes).ok()) return;
  (void)fs_->Rename(own, path);
}

}  // namespace kerf::verify
