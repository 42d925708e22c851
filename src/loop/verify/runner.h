// The judge's side of a runner: the process that holds a candidate.
//
//   KERF_ASSIGN_OR_RETURN(auto runner, StartRunner(spec));
//   Exchange loaded = runner->Load(timeout);
//   Exchange called = runner->Call(in, out, timeout);
//   if (called.kind == Exchange::Kind::kGone) { const sandbox::Outcome& outcome = *runner->End(); …
//   }
//
// Not thread-safe. The destructor ends the process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_posix.h"
#include "base/result.h"
#include "loop/verify/call_files.h"
#include "loop/verify/sandbox_process.h"
#include "loop/verify/wire.h"
#include "sandbox/outcome.h"

namespace kerf::verify {

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
  // When asked for: what it used of the processor after it had answered and cleaned up, how many
  // processes it left, and a library it loaded that no candidate needs.
  std::chrono::nanoseconds cpu_after{0};
  int processes_after = 0;
  std::string foreign_library;
};

class Runner {
 public:
  // Waits for the process's end after it was told, or made, to end.
  using Ending = std::function<Result<sandbox::Outcome>()>;

  // Takes the judge's end of the conversation and waits for the runner's first word. `ending` is
  // called once.
  static Result<std::unique_ptr<Runner>> Make(Fd socket, Ending ending);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Exchange Load(std::chrono::milliseconds timeout);
  // Stops the process the moment it answers, takes the snapshot of `out`, and lets it go on. With
  // `watch`, looks afterwards whether it goes on working behind the judge's back.
  Exchange Call(const InputFile& in, OutputFile& out, std::chrono::milliseconds timeout,
                bool watch = false);
  // The same in two steps: only the second is on the clock, and nothing is stopped or watched
  // around it.
  Exchange Map(const InputFile& in, const OutputFile& out, std::chrono::milliseconds timeout);
  Exchange Go(std::chrono::milliseconds timeout);
  // Brings the outputs of the last Go() into their file.
  Exchange Fetch(std::chrono::milliseconds timeout);
  // Has what a test computed written into a file; after Load().
  Exchange WriteResult(int fd, std::chrono::milliseconds timeout);
  Exchange Ping(std::chrono::milliseconds timeout);
  // From outside: process_view.h.
  [[nodiscard]] std::chrono::nanoseconds CpuTime() const;
  [[nodiscard]] bool IsBusy() const;
  [[nodiscard]] int CountOthers() const;
  // From now on a watched call also tells what code was loaded besides these files and the
  // language's own libraries.
  void WatchLibraries(const std::vector<std::string>& files);
  // What instrumented candidates wrote about themselves since this was last asked; also after the
  // process's end.
  std::string TakeFindings();
  // Ends the process if it still runs. An Error when the sandbox could not be built.
  const Result<sandbox::Outcome>& End();

 private:
  Runner(Fd socket, Ending ending);
  bool WaitForHello();
  Exchange Ask(Command::Kind kind, const std::vector<int>& fds, std::chrono::milliseconds timeout,
               OutputFile* snapshot = nullptr);
  bool Send(const Command& command, const std::vector<int>& fds);
  // False when nothing, or not a whole reply, came. `sender` is the pid of who sent it.
  bool Receive(Exchange& exchange, pid_t& sender);
  bool Await(std::chrono::steady_clock::time_point until);
  void Watch(Exchange& exchange, std::chrono::milliseconds timeout);
  void Signal(int signal) const;

  Fd socket_;
  Ending ending_;
  std::optional<Result<sandbox::Outcome>> outcome_;
  // Of the runner, as this side sees it: told by the kernel with the first message, which was sent
  // before any code of the candidate ran.
  pid_t pid_ = -1;
  Fd pidfd_;
  Fd findings_;
  off_t findings_read_ = 0;
  uint64_t calls_ = 0;
  std::vector<std::string> known_files_;  // empty: not watched
};

// A runner that has a sandbox of its own.
Result<std::unique_ptr<Runner>> StartRunner(const RunnerSpec& spec);

}  // namespace kerf::verify
