#include "sandbox/outcome.h"

#include <cstring>

namespace kerf::sandbox {

const char* OutcomeStatusName(OutcomeStatus status) {
  switch (status) {
    case OutcomeStatus::kExited:
      return "exited";
    case OutcomeStatus::kSignaled:
      return "signaled";
    case OutcomeStatus::kLimit:
      return "limit";
    case OutcomeStatus::kViolation:
      return "violation";
    case OutcomeStatus::kSetupError:
      return "setup_error";
  }
  return "unknown";
}

const char* ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "none";
    case Reason::kWallTime:
      return "wall_time";
    case Reason::kCpuTime:
      return "cpu_time";
    case Reason::kMemory:
      return "memory";
    case Reason::kOutput:
      return "output";
    case Reason::kProcesses:
      return "processes";
    case Reason::kFileSize:
      return "file_size";
    case Reason::kTmpSpace:
      return "tmp_space";
    case Reason::kWorkSpace:
      return "work_space";
    case Reason::kSyscall:
      return "syscall";
    case Reason::kExec:
      return "exec";
    case Reason::kLayer:
      return "layer";
  }
  return "unknown";
}

std::string Describe(const Outcome& outcome) {
  switch (outcome.status) {
    case OutcomeStatus::kExited:
      return "exit code " + std::to_string(outcome.exit_code);
    case OutcomeStatus::kSignaled: {
      const char* name = ::sigabbrev_np(outcome.signal);
      return std::string("killed by SIG") +
             (name == nullptr ? std::to_string(outcome.signal) : std::string(name));
    }
    default:
      return std::string(OutcomeStatusName(outcome.status)) + " " + ReasonName(outcome.reason) +
             (outcome.detail.empty() ? "" : ": " + outcome.detail);
  }
}

}  // namespace kerf::sandbox
