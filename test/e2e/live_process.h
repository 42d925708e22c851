// A running program whose standard input and output the test holds: to talk to it line by line, and
// to kill it at any moment.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kerf::e2e {

class LiveProcess {
 public:
  // stdin is a pipe to Send() into, or the file when `stdin_file` is given.
  explicit LiveProcess(const std::vector<std::string>& argv, const std::string& stdin_file = "");
  // Kills and reaps what is still alive.
  ~LiveProcess();
  LiveProcess(const LiveProcess&) = delete;
  LiveProcess& operator=(const LiveProcess&) = delete;

  // False when the program no longer reads.
  bool Send(const std::string& text);
  void CloseInput();
  // The next whole line without its LF; nullopt at the end of the output or after the time-out.
  std::optional<std::string> ReadLine(std::chrono::milliseconds timeout = std::chrono::seconds(20));
  // Collects whole lines for that long.
  std::vector<std::string> ReadFor(std::chrono::microseconds time);
  // SIGKILL, then all whole lines that were printed before.
  std::vector<std::string> Kill();
  void Signal(int signal);
  [[nodiscard]] int pid() const { return pid_; }
  // Waits for the end; the exit code, or 128 + the signal.
  int Wait();

 private:
  // Reads once; false at the end or after the time-out.
  bool Fill(std::chrono::microseconds timeout);
  std::optional<std::string> TakeLine();

  int pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
};

}  // namespace kerf::e2e
