// What became of a program in the sandbox. Data, never an Error: a program that crashes, hangs or
// attacks was judged, and that is the finding.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sandbox/level.h"

namespace kerf::sandbox {

enum class OutcomeStatus {
  kExited,      // by itself; exit_code says how
  kSignaled,    // by a signal; `signal` says which
  kLimit,       // it hit a limit and was ended; `reason` says which
  kViolation,   // it tried what the policy forbids and was ended
  kSetupError,  // it never ran
};

// A closed list: each is documented in docs/sandbox.md. kNone for kExited and kSignaled.
enum class Reason {
  kNone,
  kWallTime,
  kCpuTime,
  kMemory,
  kOutput,
  kProcesses,
  kFileSize,
  kTmpSpace,
  kWorkSpace,
  kSyscall,  // violation: a forbidden system call, named in `detail`
  kExec,     // setup error: the program could not be executed
  kLayer,    // setup error: a layer could not be built
};

const char* OutcomeStatusName(OutcomeStatus status);
const char* ReasonName(Reason reason);

struct Usage {
  std::chrono::nanoseconds wall{0};
  std::chrono::nanoseconds cpu{0};  // user and system, all processes
  // Of the largest process. Exact when larger than kerf itself was at the start; else the largest
  // of the watchdog's samples, 0 when the program was too quick for one.
  uint64_t max_rss_bytes = 0;
};

// When several things went wrong, status and reason tell the first: a program killed for its output
// is not reported as signaled.
struct Outcome {
  OutcomeStatus status = OutcomeStatus::kSetupError;
  Reason reason = Reason::kNone;
  std::string detail;  // one line for people
  int exit_code = -1;  // -1 unless kExited
  int signal = 0;      // 0 unless kSignaled
  // At most Limits::output_bytes each. Written by the program: bytes, not text to be trusted.
  std::string stdout_text;
  std::string stderr_text;
  Usage usage;
  SandboxLevel level;

  [[nodiscard]] bool succeeded() const {
    return status == OutcomeStatus::kExited && exit_code == 0;
  }
};

// "killed by SIGSEGV", "exit code 3", "limit wall_time: more than 10 s": one line for people.
std::string Describe(const Outcome& outcome);

}  // namespace kerf::sandbox
