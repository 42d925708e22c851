// What a test computes with the original source (`label`): the gold that a candidate's results are
// held against. Run in a process of its own that no candidate ever sees, and kept in the cache by
// content.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "loop/verify/blame.h"
#include "loop/verify/test_result.h"
#include "loop/verify/test_run.h"
#include "loop/verify/verifier.h"
#include "loop/verify/warm_interpreter.h"

namespace kerf::verify {

// Code with the test behind it as one file, as GEAK puts them together; the code's lines keep their
// numbers.
struct TestScript {
  std::string text;
  size_t test_at = 0;  // where the test begins
};
TestScript MakeScript(const std::string& code, const std::string& test);

class LabelResults {
 public:
  struct Gold {
    Finding finding;  // why nothing can be judged by it: `unsupported` or `task_unfit`
    std::shared_ptr<const TestResult> result;
  };

  // `options.task_text` is the test; kept by reference. `kind` is whatever else decides what the
  // label computes: the framework's version.
  LabelResults(const VerifierOptions& options, std::string label, std::string kind,
               std::chrono::milliseconds timeout);

  [[nodiscard]] bool empty() const { return label_.empty(); }
  [[nodiscard]] const std::string& text() const { return label_; }
  // The first one asked for is looked at closely: the same seed must give the same again, and
  // Triton kernels that do nothing must not.
  Result<Gold> Get(int64_t seed, WarmInterpreter& interpreter);
  // Whether it is there already; Get() needs no interpreter then.
  bool Has(int64_t seed);
  // A process with the label, to run the test in.
  Result<std::unique_ptr<Runner>> Start(int64_t seed, bool muted,
                                        WarmInterpreter& interpreter) const;

 private:
  Result<Gold> Make(int64_t seed, WarmInterpreter& interpreter) const;
  Result<TestRun> Run(int64_t seed, bool muted, WarmInterpreter& interpreter) const;
  Result<Finding> Doubt(const TestResult& gold, int64_t seed, WarmInterpreter& interpreter) const;
  [[nodiscard]] std::string PathOf(int64_t seed) const;
  // Kept for the next time; what cannot be kept is made again.
  void Keep(const std::string& path, const std::string& bytes) const;

  const VerifierOptions& options_;
  const std::string label_;
  const std::string kind_;
  const std::chrono::milliseconds timeout_;
  const std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  std::map<int64_t, Gold> golds_;
};

}  // namespace kerf::verify
