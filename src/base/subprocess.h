// Runs another program to its end: no shell, bounded in time and in what it may print.
//
//   Command command{.argv = {"nvcc", "--version"}, .timeout = std::chrono::seconds(2)};
//   KERF_ASSIGN_OR_RETURN(ProcessOutcome outcome, RunProcess(command));
//   if (outcome.exit_code == 0) Use(outcome.stdout_text);
//
// A program that fails, crashes or hangs is data (ProcessOutcome); an Error means that it could not
// be started.
//
// The child leads its own process group. When RunProcess() returns, nothing of that group is alive:
// on a timeout it gets SIGTERM and after the grace period SIGKILL; what a child that ended left
// behind gets SIGKILL. A descendant that made its own session escapes that, but cannot keep
// RunProcess() waiting. The child dies with the thread that runs it.
//
// Thread-safe: any number of threads may run processes at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kerf {

struct Command {
  // argv[0] is looked up in PATH (of `environment` when given) unless it contains a '/'; then it is
  // relative to `cwd`.
  std::vector<std::string> argv;
  std::string cwd;                                      // empty: ours
  std::optional<std::vector<std::string>> environment;  // exactly these "NAME=value"; nullopt: ours
  std::string input;                                    // what the child reads from stdin
  size_t stdout_limit = size_t{16} << 20;               // bytes kept; the rest is read and dropped
  size_t stderr_limit = size_t{1} << 20;
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  // Between SIGTERM and SIGKILL; also how long output of descendants is awaited after the child
  // itself ended.
  std::chrono::milliseconds grace = std::chrono::seconds(1);
  // When given, asked several times a second; true ends the child as its time-out would. Without
  // it, whoever is ended by a signal leaves the child's own children behind.
  std::function<bool()> stop;
};

struct ProcessOutcome {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;      // the signal that ended it, 0 when it exited
  bool timed_out = false;
  bool stopped = false;  // by Command::stop
  bool stdout_truncated = false;
  bool stderr_truncated = false;
  std::string stdout_text;
  std::string stderr_text;
  std::chrono::nanoseconds wall_time{0};
};

// kNotFound or kDenied with the program's name when it cannot be started.
Result<ProcessOutcome> RunProcess(const Command& command);

// Where `program` would be found: as it is when it contains a '/', else the first executable file
// of that name in the colon-separated `path`. nullopt when there is none.
std::optional<std::string> FindProgram(const std::string& program, const std::string& path);

// This process's environment, "NAME=value" each.
std::vector<std::string> EnvironmentEntries();

}  // namespace kerf
