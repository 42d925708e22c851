// One run of a test in a process of its own: with the code it tests, or with the original source.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/verify/blame.h"
#include "loop/verify/runner.h"
#include "loop/verify/test_result.h"

namespace kerf::verify {

// What python/kerf/candidate_server.py is told about it.
struct TestPlan {
  std::string device = "cpu";
  int64_t seed = 42;   // GEAK's own
  bool muted = false;  // Triton kernels do nothing
  // Under which name an original source stands for the extension that the test imports; may be
  // empty.
  std::string module;
};

struct TestRun {
  Finding finding;
  std::string log;                   // what emulated kernels were caught at
  std::optional<TestResult> result;  // when it came to its end
  std::chrono::nanoseconds wall{0};
};

// Loads, which runs the test, and takes its result. The process ends with it.
TestRun RunTest(Runner& runner, std::chrono::milliseconds timeout);

// What the last run of the test computed; the process goes on.
Result<TestResult> FetchTestResult(Runner& runner, std::chrono::milliseconds timeout);

}  // namespace kerf::verify
