// Judges a torch extension or Triton code by a test that drives it, as GEAK's data sets have them
// (`test_code`): Python that imports the extension, or calls its functions by bare names, and
// leaves what it computed in `result_gold`. Of Triton code the test is the continuation: both run
// as one file.
//
// call: names, build, import, and a run of the test to its end, in the sandbox. execute: what the
// test computes is compared, by kerf's own budgets and in this process, with what it computes with
// the original source (`label`) in a process of its own, for several seeds. perform: only where
// both sides run natively on the same device (test_race.h). Without a label the best there is is
// `unsupported`/`feature` with pass_call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/verdict.h"
#include "base/clock.h"
#include "base/result.h"
#include "loop/verify/label_results.h"
#include "loop/verify/scratch.h"
#include "loop/verify/test_run.h"
#include "loop/verify/torch_extensions.h"

namespace kerf::verify {

// Whether a Python source is such a test, and no task file with a Model.
bool IsTestCode(std::string_view text);

struct TestDriveOptions {
  VerifierOptions verifier;  // task_text is the test
  std::string label;         // the original source that the candidate translates; may be empty
  std::vector<int64_t> seeds = {42};
  std::string framework_version;
};

class TestDrive {
 public:
  TestDrive(TestDriveOptions options, Clock& clock);

  Result<Verdict> Verify(const Candidate& candidate);
  // Whether results can be judged at all; the Status says why not.
  Status CheckLabel();

 private:
  // How to start the candidate with its test.
  using Start = std::function<Result<std::unique_ptr<Runner>>(const TestPlan&)>;

  Verdict Begin(const Candidate& candidate);
  // Empty, and the verdict says why, when it cannot be run.
  Result<Start> Prepare(const Candidate& candidate, Verdict& verdict);
  Result<Start> PrepareScript(const Candidate& candidate, Verdict& verdict);
  Result<Start> PrepareExtension(const Candidate& candidate, Verdict& verdict);
  Status Judge(const Start& start, const Candidate& candidate, Verdict& verdict);
  // One seed; the verdict says what was found. `launches`: of Triton kernels, in this run.
  Status JudgeSeed(const Start& start, int64_t seed, int64_t& launches, Verdict& verdict);
  Status JudgeMuted(const Start& start, Verdict& verdict);
  Status Measure(const Start& start, const Candidate& candidate, Verdict& verdict);
  // Null, and the verdict says why, when there is no interpreter with Triton.
  Result<WarmInterpreter*> Scripts(Verdict& verdict);
  Result<std::unique_ptr<WarmInterpreter>> StartScripts();
  [[nodiscard]] std::chrono::milliseconds Timeout() const;

  const TestDriveOptions options_;
  Clock& clock_;
  TorchExtensions extensions_;
  LabelResults label_;
  std::vector<Scratch> compiler_folders_;  // outlive the interpreters
  std::unique_ptr<WarmInterpreter> scripts_;
};

}  // namespace kerf::verify
