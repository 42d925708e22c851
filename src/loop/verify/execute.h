// The call and execute stages: does it run, and is what it computes right, however it is called.
//
// Two processes, one after the other. The first sees every shown case twice, its tensors against
// the first and then against the last page of their room; the second, fresh, sees all cases, the
// hidden ones included, in the opposite order. Every call gets new addresses and poisoned outputs.
// Bits that differ between calls on the same inputs are judged again: they may, within the budget.
#pragma once

#include <chrono>
#include <functional>

#include "artifact/verdict.h"
#include "base/ids.h"
#include "loop/verify/expectations.h"
#include "loop/verify/runner.h"

namespace kerf::verify {

// Starts a fresh process with the candidate.
using StartCandidate = std::function<Result<std::unique_ptr<Runner>>()>;

// A candidate that can be started.
struct Loadable {
  StartCandidate start;
  // Whether two of its processes may run at once: starting takes long where a GPU is opened.
  bool independent = true;
  bool native = true;  // gets the judge's memory itself, between guard pages
};

struct ExecuteOptions {
  std::chrono::milliseconds call_timeout = std::chrono::seconds(30);
  int threads = 1;
  bool compat_aikg = false;
};

// Adds to the verdict what was found. An Error when kerf could not find out.
Status Execute(const Loadable& candidate, Expectations& expectations, const ExecuteOptions& options,
               IdSource& random, Verdict& verdict);

}  // namespace kerf::verify
