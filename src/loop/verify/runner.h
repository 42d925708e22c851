// The judge's side of a runner: starts it in the sandbox, sends calls, and finds out how it ended.
//
//   KERF_ASSIGN_OR_RETURN(auto runner, Runner::Start(spec));
//   Exchange loaded = runner->Load(timeout);
//   Exchange called = runner->Call(in, out, timeout);
//   if (called.kind == Exchange::Kind::kGone) { const sandbox::Outcome& outcome = runner->End(); …
//   }
//
// Not thread-safe. The destructor ends the process.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/child_posix.h"
#include "base/result.h"
#include "loop/verify/call_files.h"
#include "loop/verify/wire.h"
#include "sandbox/sandbox.h"

namespace kerf::verify {

struct RunnerSpec {
  sandbox::Policy policy;
  sandbox::Limits limits;
  sandbox::Mode mode = sandbox::Mode::kBest;
  std::optional<sandbox::SandboxLevel> available;  // else probed
  std::vector<std::string> argv;                   // as the inside sees it
};

constexpr int kWatchSamples = 6;

struct Exchange {
  enum class Kind {
    kReplied,
    kGone,      // the process ended, or closed its side
    kTimedOut,  // it was killed for it
    kForged,    // a reply that does not belong to the question
  };
  Kind kind = Kind::kGone;
  Reply reply;
  std::string text;                  // the reply's, safe to use
  std::chrono::nanoseconds wall{0};  // on the judge's clock
  // When asked for: how often, of kWatchSamples looks, a thread of it was at work after it had
  // answered; and how many children it left.
  int busy_after = 0;
  int processes_after = 0;
};

class Runner {
 public:
  static Result<std::unique_ptr<Runner>> Start(RunnerSpec spec);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Exchange Load(std::chrono::milliseconds timeout);
  // Stops the process the moment it answers, takes the snapshot of `out`, and lets it go on. With
  // `watch`, looks afterwards whether it goes on working behind the judge's back.
  Exchange Call(const InputFile& in, OutputFile& out, std::chrono::milliseconds timeout,
                bool watch = false);
  // Ends the process if it still runs. An Error when the sandbox could not be built.
  const Result<sandbox::Outcome>& End();

 private:
  explicit Runner(RunnerSpec spec);
  Exchange Ask(Command::Kind kind, const InputFile* in, OutputFile* out,
               std::chrono::milliseconds timeout, bool watch);
  bool Send(const Command& command, const InputFile* in, const OutputFile* out);
  // False when nothing, or not a whole reply, came. `sender` is the pid of who sent it.
  bool Receive(Exchange& exchange, pid_t& sender);
  bool Await(std::chrono::steady_clock::time_point until);
  bool WaitForHello();
  void Signal(int signal) const;
  void Watch(Exchange& exchange) const;

  const RunnerSpec spec_;
  Fd socket_;
  std::thread thread_;
  std::optional<Result<sandbox::Outcome>> outcome_;  // written by thread_, read after join
  // Of the runner, as this side sees it: told by the kernel with the first message, which was sent
  // before any code of the candidate ran.
  pid_t pid_ = -1;
  Fd pidfd_;
  uint64_t calls_ = 0;
};

}  // namespace kerf::verify
