#include "loop/verify/blame.h"

#include <csignal>

namespace kerf::verify {
namespace {

using sandbox::OutcomeStatus;
using sandbox::Reason;

Finding FromSignal(int signal, const std::string& fault, const std::string& how) {
  Finding finding{VerdictStatus::kRuntimeError, "signal", how};
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      finding.reason = "segfault";
      break;
    case SIGABRT:
      finding.reason = "abort";
      break;
    case SIGILL:
      finding.reason = "illegal_instruction";
      break;
    case SIGFPE:
      finding.reason = "arithmetic";
      break;
    default:
      break;
  }
  if (finding.reason != "segfault" || fault.empty()) return finding;
  finding.text = fault;
  const bool write = fault.rfind("write", 0) == 0;
  const bool in_tensor = fault.find(" at byte ") != std::string::npos;
  const bool beside = fault.find(" bytes before ") != std::string::npos ||
                      fault.find(" bytes after ") != std::string::npos;
  if (in_tensor && write) finding.reason = "input_write";  // outputs may be written
  if (beside) finding.reason = write ? "out_of_bounds_write" : "out_of_bounds_read";
  return finding;
}

Finding FromLimit(const sandbox::Outcome& outcome) {
  const std::string text = sandbox::Describe(outcome);
  switch (outcome.reason) {
    case Reason::kWallTime:
      return {VerdictStatus::kTimeout, "call", text};
    case Reason::kCpuTime:
      return {VerdictStatus::kTimeout, "cpu_time", text};
    case Reason::kMemory:
      return {VerdictStatus::kOutOfMemory, "memory", text};
    default:
      return {VerdictStatus::kSandboxViolation, sandbox::ReasonName(outcome.reason), text};
  }
}

bool Has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

// What the Python runner noticed itself is marked: "kerf:input_write input0".
constexpr std::string_view kMark = "kerf:";

bool IsMarked(const std::string& text) { return text.rfind(kMark, 0) == 0; }

Finding FromException(const std::string& text) {
  if (!IsMarked(text)) return {VerdictStatus::kRuntimeError, "exception", text};
  const size_t end = text.find(' ');
  const std::string reason = text.substr(kMark.size(), end - kMark.size());
  const std::string rest = end == std::string::npos ? "" : text.substr(end + 1);
  if (IsReasonOf(VerdictStatus::kCallError, reason)) {
    return {VerdictStatus::kCallError, reason, rest};
  }
  // A test's own check, see TestEntry in candidate_server.py.
  if (reason == "value") return {VerdictStatus::kWrongValue, reason, rest};
  if (reason == "device_error") return {VerdictStatus::kRuntimeError, reason, rest};
  if (reason == "input_write") return {VerdictStatus::kRuntimeError, reason, "it changed " + rest};
  if (IsReasonOf(VerdictStatus::kCheat, reason)) return {VerdictStatus::kCheat, reason, rest};
  return {VerdictStatus::kRuntimeError, "exception", text};
}

// Why a candidate could not be loaded: dlopen's words, or Python's exception.
Finding FromLoadFailure(const std::string& text) {
  if (IsMarked(text)) return FromException(text);
  if (Has(text, "SyntaxError: ") || Has(text, "IndentationError: ")) {
    return {VerdictStatus::kCompileError, "syntax", text};
  }
  if (Has(text, "ModuleNotFoundError: ") || Has(text, "ImportError: ")) {
    return {VerdictStatus::kCallError, "import_failed", text};
  }
  // The machine's fault, not the candidate's.
  if (Has(text, "the GPU cannot be used") || Has(text, "the NVIDIA driver")) {
    return {VerdictStatus::kUnsupported, "device", text};
  }
  const bool missing = Has(text, "no function kerf_kernel") || Has(text, "defines neither");
  return {VerdictStatus::kCallError, missing ? "entry_missing" : "load_failed", text};
}

}  // namespace

Finding JudgeReply(const Exchange& exchange) {
  switch (exchange.kind) {
    case Exchange::Kind::kTimedOut:
      return {VerdictStatus::kTimeout, "call", "the call did not return in time"};
    case Exchange::Kind::kForged:
      return {VerdictStatus::kCheat, "protocol", "an answer that was not asked for"};
    case Exchange::Kind::kGone:
      return {};  // the outcome tells why
    case Exchange::Kind::kReplied:
      break;
  }
  switch (exchange.reply.kind) {
    case Reply::Kind::kLoadFailed:
      return FromLoadFailure(exchange.text);
    case Reply::Kind::kRaised:
      return FromException(exchange.text);
    case Reply::Kind::kDone:
      if (exchange.reply.code == 0) return {};
      return {VerdictStatus::kCallError, "returned_error",
              "kerf_kernel returned " + std::to_string(exchange.reply.code) + ", 0 means success"};
    case Reply::Kind::kBadCall:
      if (Has(exchange.text, "out of device memory")) {
        return {VerdictStatus::kOutOfMemory, "device_memory", exchange.text};
      }
      return {VerdictStatus::kRuntimeError, "no_result",
              "the call could not be made: " + exchange.text};
    default:
      return {};
  }
}

Finding JudgeOutcome(const sandbox::Outcome& outcome, const std::string& fault) {
  switch (outcome.status) {
    case OutcomeStatus::kExited:
      return {VerdictStatus::kRuntimeError, "exited",
              "the process exited with code " + std::to_string(outcome.exit_code) +
                  " before the call had returned"};
    case OutcomeStatus::kSignaled:
      return FromSignal(outcome.signal, fault, sandbox::Describe(outcome));
    case OutcomeStatus::kLimit:
      return FromLimit(outcome);
    case OutcomeStatus::kViolation:
      return {VerdictStatus::kSandboxViolation, "syscall", sandbox::Describe(outcome)};
    case OutcomeStatus::kSetupError:
      break;
  }
  return {VerdictStatus::kRuntimeError, "no_result", sandbox::Describe(outcome)};
}

Finding JudgeWatch(const Exchange& exchange) {
  if (exchange.processes_after > 0) {
    return {VerdictStatus::kCheat, "left_process",
            "it left a process behind after it had returned"};
  }
  if (!exchange.foreign_library.empty()) {
    return {VerdictStatus::kCheat, "library_fallback",
            "it loaded " + exchange.foreign_library +
                ": a kernel is to be written, not to be found in a library"};
  }
  // Less may be a pool of threads on its way to sleep.
  constexpr std::chrono::milliseconds kMost{1};
  if (exchange.cpu_after > kMost) {
    return {VerdictStatus::kCheat, "background_work", "it went on computing after it had returned"};
  }
  return {};
}

}  // namespace kerf::verify
