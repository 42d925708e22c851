// A program in the sandbox that the judge talks with over a socket.
//
// Not thread-safe. The destructor ends the program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/child_posix.h"
#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kerf::verify {

struct RunnerSpec {
  sandbox::Policy policy;
  sandbox::Limits limits;
  sandbox::Mode mode = sandbox::Mode::kBest;
  std::optional<sandbox::SandboxLevel> available;  // else probed
  std::vector<std::string> argv;                   // as the inside sees it
};

struct SocketPair {
  Fd ours;  // tells with every message which process sent it
  Fd theirs;
};
// Keeps the borders of messages.
Result<SocketPair> MakeSocketPair();

class SandboxProcess {
 public:
  static Result<std::unique_ptr<SandboxProcess>> Start(RunnerSpec spec);
  ~SandboxProcess();
  SandboxProcess(const SandboxProcess&) = delete;
  SandboxProcess& operator=(const SandboxProcess&) = delete;

  // Reads as ended once the program has gone.
  [[nodiscard]] Fd& socket() { return socket_; }
  // Waits for the program's end; the caller has seen to it that it comes. An Error when the sandbox
  // could not be built.
  const Result<sandbox::Outcome>& Wait();

 private:
  explicit SandboxProcess(RunnerSpec spec) : spec_(std::move(spec)) {}

  const RunnerSpec spec_;
  Fd socket_;
  std::thread thread_;
  std::optional<Result<sandbox::Outcome>> outcome_;  // written by thread_, read after join
};

}  // namespace kerf::verify
