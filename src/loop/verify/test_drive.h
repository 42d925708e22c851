// Judges a torch extension or Triton code by a test that drives it, as GEAK's data sets have them
// (`test_code`): Python that imports the extension, or calls its functions by bare names, and
// computes results. Of Triton code the test is the continuation: both run as one file.
//
// The call stage only: names, build, import, and a run of the test to its end, in the sandbox. A
// failed assertion of the test is `wrong_value`, and so is a `result_gold` unlike the one the test
// computes with the label. That comparison happens in the candidate's own process, by GEAK's
// tolerances: it can show a failure and prove no success. So such a candidate never passes: the
// best there is is `unsupported`/`feature` with pass_call.
#pragma once

#include <memory>
#include <string>

#include "artifact/candidate.h"
#include "artifact/verdict.h"
#include "base/clock.h"
#include "base/result.h"
#include "loop/verify/torch_extensions.h"

namespace kerf::verify {

// Whether a Python source is such a test, and no task file with a Model.
bool IsTestCode(std::string_view text);

class TestDrive {
 public:
  // `options.task_text` is the test. `label` is the original source that the candidate translates;
  // empty: there is nothing to compare with.
  TestDrive(VerifierOptions options, std::string label, std::string framework_version,
            Clock& clock);

  Result<Verdict> Verify(const Candidate& candidate);

 private:
  Status Drive(const Candidate& candidate, Verdict& verdict);
  Status DriveScript(const Candidate& candidate, Verdict& verdict);
  void Judge(const Exchange& loaded, Runner& runner, Verdict& verdict) const;

  // Code with the test behind it, as GEAK puts them together.
  [[nodiscard]] std::string WithTest(const std::string& code) const;
  [[nodiscard]] std::string LabelWithTest() const;

  const VerifierOptions options_;
  const std::string label_;
  const std::string framework_version_;
  Clock& clock_;
  TorchExtensions extensions_;
};

}  // namespace kerf::verify
