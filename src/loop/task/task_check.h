// Is a task fit to judge candidates by?
//
// Looks at what the runner found out (Reference::checks) and at the outputs themselves. Whether
// zeros, ones, a copy of an input, the mean or a stale buffer would pass the tolerance is for the
// comparison engine to say, which lives beside it in verify/; the caller adds that finding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "base/file_system.h"
#include "base/result.h"

namespace kerf::task {

enum class Finding {
  kNonFinite,         // no output of a case is finite: unfit; some: a warning
  kConstant,          // an output has one value everywhere
  kSameForAllSeeds,   // other inputs and weights give the same output
  kNotDeterministic,  // the same seed gives another output
  kInputIgnored,      // another value of an input changes nothing
  kParameterIgnored,  // the same of a parameter; a warning
  kSmallOutputs,      // all within 0.01: a fixed tolerance of 1e-2 would accept zeros; a warning
  kNoOracle,          // the answers are known in working precision only; a warning
  kNullBaseline,      // a candidate that computes nothing would pass; see verify/fitness.h
  kNote,              // what the runner noticed
};

// "non_finite" and so on; stable, part of the JSON output.
const char* FindingName(Finding finding);

struct TaskFinding {
  Finding finding = Finding::kNote;
  bool unfit = false;  // a verdict on the task would mean nothing
  std::string message;
};

// Of one output of one case.
struct OutputSummary {
  std::string name;
  std::string spec;  // "float32[16, 1024]"
  int64_t seed = 0;
  int64_t variant = 0;
  bool hidden = false;
  uint64_t elements = 0;
  uint64_t non_finite = 0;
  double least = 0;  // of the finite ones; of complex numbers, of both parts
  double greatest = 0;
};

struct TaskReport {
  std::vector<TaskFinding> findings;
  std::vector<OutputSummary> outputs;

  [[nodiscard]] bool fit() const {
    for (const TaskFinding& finding : findings) {
      if (finding.unfit) return false;
    }
    return true;
  }
};

// Reads every output once, in pieces.
Result<TaskReport> CheckTask(FileSystem& fs, const Reference& reference);

}  // namespace kerf::task
