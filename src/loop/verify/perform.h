// The perform stage: the candidate beside the reference, on the same inputs, in turns.
// docs/timing.md has the method.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "artifact/verdict.h"
#include "base/ids.h"
#include "loop/verify/execute.h"
#include "loop/verify/expectations.h"

namespace kerf::verify {

// One of the processes that take turns.
struct Contender {
  std::string name;  // "candidate", "eager", "torch.compile"
  StartCandidate start;
  std::string error;  // why there is none
};

struct PerformOptions {
  std::chrono::milliseconds call_timeout = std::chrono::seconds(30);
  int threads = 1;
  bool cold_cache = false;
  bool device_cold = false;  // the runners flush a device's cache themselves
  std::string chip;
  double bandwidth = 0;  // of the device's memory, bytes per second; 0: the CPU's is measured
  int least_warmups = 3;
  int least_rounds = 30;
  int fewest_rounds = 12;  // when most_time is over
  int most_rounds = 200;
  std::chrono::milliseconds most_time = std::chrono::seconds(10);
  double target_width = 0.02;  // half the confidence interval of the speedup
  int audits = 3;
  // The candidate's runner is of the same kind as the baseline's, and takes as long around a call.
  bool same_runner = false;
};

// `contenders`: the candidate first, the baselines after it; the first baseline is what audits
// compare with. Adds the timing to the verdict, and the blame when it is not to be believed.
Status Perform(const std::vector<Contender>& contenders, Expectations& expectations,
               const PerformOptions& options, IdSource& random, Verdict& verdict);

// The least time in which `threads` threads of this machine touch as many bytes, in nanoseconds.
double MeasureFloor(uint64_t bytes, int threads);

}  // namespace kerf::verify
