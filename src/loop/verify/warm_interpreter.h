// A Python interpreter that has imported the framework once, in the sandbox, and forks a child for
// each candidate (python/kerf/candidate_server.py). What a fresh interpreter spends on imports is
// spent once.
//
// Candidates run one at a time. What one leaves running or lying about is gone before the next. The
// server's own memory is closed to them; one that damages it all the same can spoil outputs, which
// the judge compares, and nothing else.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "loop/verify/runner.h"
#include "loop/verify/sandbox_process.h"

namespace kerf::verify {

class WarmInterpreter {
 public:
  // kUnavailable when the interpreter cannot import what it was told to.
  static Result<std::unique_ptr<WarmInterpreter>> Start(const RunnerSpec& spec);
  // Ends the server, whatever state a candidate has left it in.
  ~WarmInterpreter();
  WarmInterpreter(const WarmInterpreter&) = delete;
  WarmInterpreter& operator=(const WarmInterpreter&) = delete;

  // `about`: the JSON object the server documents; `source`: the module.
  Result<std::unique_ptr<Runner>> Fork(const std::string& about, const std::string& source);
  // Whether it can still be used.
  [[nodiscard]] bool alive() const { return !broken_; }

 private:
  explicit WarmInterpreter(std::unique_ptr<SandboxProcess> process)
      : process_(std::move(process)) {}
  Result<std::string> ReceiveText(std::chrono::milliseconds timeout);
  Result<sandbox::Outcome> AwaitChild();
  void Kill();

  std::unique_ptr<SandboxProcess> process_;
  Fd pidfd_;  // of the server, from its first message: no candidate had run by then
  bool broken_ = false;
};

}  // namespace kerf::verify
