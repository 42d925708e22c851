#include "sandbox/outcome.h"

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

}  // namespace kerf::sandbox
