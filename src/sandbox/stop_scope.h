// Lets somebody else end what a thread runs in the sandbox: Ctrl-C does not wait for a program that
// hangs.
//
//   const StopScope scope(token);
//   sandbox.Run(...);  // kUnavailable, "stopped", soon after somebody asks the token's source to
//
// Holds for the thread that made it, until it goes. A thread that runs programs for another one
// makes its own from Current(). No outcome comes of a run that was stopped: it tells nothing about
// the program.
#pragma once

#include <stop_token>

namespace kerf::sandbox {

class StopScope {
 public:
  explicit StopScope(std::stop_token token);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  // Of the innermost scope of this thread; a token that never stops where there is none.
  static std::stop_token Current();

 private:
  std::stop_token before_;
};

}  // namespace kerf::sandbox
