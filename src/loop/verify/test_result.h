// What a test computed, as python/kerf/test_result.py wrote it in the process that ran the test,
// and whether two of them are alike.
//
//   KERF_ASSIGN_OR_RETURN(const TestResult gold, ParseTestResult(bytes_of_the_label));
//   const ResultComparison found = CompareResults(gold, got, seed, threads);
//
// The bytes come from a process that held a candidate: everything is checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/tensor.h"
#include "artifact/verdict.h"
#include "base/result.h"
#include "loop/verify/blame.h"

namespace kerf::verify {

struct TestResult {
  struct Entry {
    std::string name;  // its path: "result_gold['case_1'][0]"
    bool tensor = false;
    std::string text;  // of everything else: "list of 3", "int 7"
    TensorSpec spec;
    uint64_t offset = 0;  // in `bytes`
  };
  std::string bytes;
  std::vector<Entry> entries;        // containers before what is in them
  int64_t launches = 0;              // of Triton kernels
  std::vector<TensorSpec> launched;  // tensors that they were given

  // Whether there is a result at all: a test without result_gold leaves None.
  [[nodiscard]] bool empty() const;
};

// kCorrupt when it is not what the runner writes.
Result<TestResult> ParseTestResult(std::string bytes);

struct ResultComparison {
  Finding finding;
  std::vector<OutputReport> outputs;
  std::string log;
  bool identical = true;  // bit for bit
};

// By kerf's budgets (docs/comparison.md) without an oracle: the label is all there is.
ResultComparison CompareResults(const TestResult& gold, const TestResult& got, int64_t seed,
                                int threads);

}  // namespace kerf::verify
