#include "loop/task/runner_failure.h"

#include <unistd.h>

#include <cstring>

#include "base/json_reader.h"
#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

using sandbox::OutcomeStatus;
using sandbox::Reason;

constexpr uint64_t kMostErrorBytes = uint64_t{1} << 20;
constexpr size_t kMostMessage = 2000;

struct RunnerError {
  std::string stage;
  std::string message;
  int64_t line = 0;
};

// One line of printable text: it goes to a terminal and into records.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, kMostMessage)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "; ";
    } else if (byte >= 0x20 && byte != 0x7F) {
      line += c;
    }
  }
  return line;
}

std::string LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const size_t newline = text.rfind('\n');
  return OneLine(newline == std::string_view::npos ? text : text.substr(newline + 1));
}

bool ReadError(const std::string& folder, RunnerError& error) {
  const Result<std::string> text = sandbox::ReadResultFile(folder, "error.json", kMostErrorBytes);
  if (!text.ok()) return false;
  JsonReader json(*text);
  std::string key;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "stage") {
      json.ReadString(error.stage);
    } else if (key == "message") {
      json.ReadString(error.message);
    } else if (key == "line" && json.Peek() == JsonType::kNumber) {
      json.ReadInt(error.line);
    } else {
      json.Skip();
    }
  }
  return json.Finish();
}

// faulthandler prints the stack with the innermost frame first: File "…/relu_torch.py", line 12 in
// f
int64_t LineInTrace(const std::string& text, const std::string& module) {
  const std::string place = "/" + module + "\", line ";
  const size_t at = text.find(place);
  if (at == std::string::npos) return 0;
  return std::strtoll(text.c_str() + at + place.size(), nullptr, 10);
}

std::string Where(const TaskFile& task, int64_t line) {
  return task.path + (line > 0 ? ", line " + std::to_string(line) : "");
}

const char* Doing(const std::string& stage) {
  if (stage == "load") return "while it is loaded";
  if (stage == "init") return "while the model is made";
  if (stage == "inputs") return "while inputs are made";
  return "while the model runs";
}

Error FromRunner(const RunnerError& error, const FailedRun& run) {
  const std::string message = OneLine(error.message);
  if (error.stage == "import") {
    return Unavailable(run.interpreter.path + " in the sandbox: " + message);
  }
  if (error.stage == "write")
    return IoError("writing the reference of " + run.task.path + ": " + message);
  if (error.stage == "kerf") {
    return Error{ErrorCode::kInternal, "kerf's own reference runner failed on " + run.task.path +
                                           ": " + message + "; please report it with the task"};
  }
  std::string text = Where(run.task, error.line) + ": " + message + " (" + Doing(error.stage) + ")";
  if (message.starts_with("ModuleNotFoundError")) {
    text += "; a task sees its own file and the packages of " + run.interpreter.path;
  }
  return InvalidInput(text);
}

Error FromLimit(const FailedRun& run, int64_t line) {
  const std::string where = Where(run.task, line);
  switch (run.outcome.reason) {
    case Reason::kWallTime:
    case Reason::kCpuTime:
      return InvalidInput(where + ": the task is not done after " +
                          std::to_string(run.timeout.count()) +
                          " s; give it more time with --timeout, or make it smaller");
    case Reason::kMemory:
      return InvalidInput(where +
                          ": the task needs more memory than it may have: " + run.outcome.detail);
    case Reason::kFileSize:
    case Reason::kWorkSpace:
      return InvalidInput(where + ": the reference is larger than the cache may be (" +
                          run.outcome.detail + "); set KERF_CACHE_LIMIT, or make the task smaller");
    default:
      return InvalidInput(where + ": the task used too much: " + run.outcome.detail);
  }
}

// Root's programs run as nobody; without namespaces the folders above an interpreter must let it
// in.
std::string NobodyHint(const sandbox::Outcome& outcome) {
  if (::geteuid() != 0 || outcome.level.has_namespaces()) return "";
  return "; without namespaces it runs as nobody, who must be able to reach it: choose an "
         "interpreter "
         "outside root's home with KERF_PYTHON, or run with --sandbox off";
}

}  // namespace

Error ExplainFailure(const FailedRun& run) {
  const sandbox::Outcome& outcome = run.outcome;
  const int64_t line = LineInTrace(outcome.stderr_text, run.task.ModuleName());
  RunnerError error;
  switch (outcome.status) {
    case OutcomeStatus::kSetupError:
      return Unavailable("the sandbox could not run " + run.interpreter.path + ": " +
                         outcome.detail + NobodyHint(outcome));
    case OutcomeStatus::kLimit:
      return FromLimit(run, line);
    case OutcomeStatus::kViolation:
      return InvalidInput(Where(run.task, line) +
                          ": the task did what the sandbox forbids: " + outcome.detail);
    case OutcomeStatus::kSignaled:
      return InvalidInput(Where(run.task, line) + ": the task crashed with signal " +
                          std::to_string(outcome.signal) + " (" + ::strsignal(outcome.signal) +
                          ")");
    case OutcomeStatus::kExited:
      break;
  }
  if (ReadError(run.out_folder, error)) return FromRunner(error, run);
  const bool started = sandbox::ReadResultFile(run.out_folder, "started", 1).ok();
  if (!started) {
    return Unavailable(
        run.interpreter.path + " does not run in the sandbox: " + LastLine(outcome.stderr_text) +
        " (exit code " + std::to_string(outcome.exit_code) + ")" + NobodyHint(outcome));
  }
  return InvalidInput(Where(run.task, line) + ": the task ended its process with exit code " +
                      std::to_string(outcome.exit_code) + " before there was a result");
}

}  // namespace kerf::task
