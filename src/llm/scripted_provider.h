// Answers from a list of replies in a file: for tests and demonstrations of the loop.
//
//   {"replies": [
//     {"agent": "coder", "json": {"code": "…", "description": "…"}, "usage": {"input": 10,
//     "output": 5}},
//     {"text": "no code here", "reasoning": "…", "finish": "length", "delay_ms": 20},
//     {"error": {"code": "unavailable", "message": "the endpoint is down"}},
//     {"agent": "conductor_check", "text": "{\"result\": 1}", "repeat": true}]}
//
// A request gets the first reply not used yet whose "agent" is its own or is not given. With
// "per_owner": true beside "replies", each owner (task) has the list to itself. "repeat": true
// stays in the list. "model" and "cost_usd" go into the reply; without "model" it costs nothing. A
// bare list of replies is taken as well.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/provider.h"
#include "llm/timer_queue.h"

namespace kerf::llm {

class ScriptedProvider : public Provider {
 public:
  struct Entry {
    std::string agent;
    std::optional<Error> error;
    Reply reply;
    double delay_s = 0;
    bool repeat = false;
  };

  // `name` is the file's, for messages. Unknown members are refused: a test that says "finnish"
  // would test nothing.
  static Result<std::unique_ptr<ScriptedProvider>> Parse(std::string_view json,
                                                         const std::string& name);

  void Ask(Request request, Done done) override;
  void Stop() override;
  [[nodiscard]] std::string name() const override { return "kerf.scripted"; }

 private:
  struct Script {
    std::vector<Entry> entries;
    bool per_owner = false;
  };
  static Result<Script> ReadScript(std::string_view json);

  ScriptedProvider(Script script, std::string name)
      : script_(std::move(script)), file_(std::move(name)) {}
  // The index of the entry that answers; nullopt when none is left.
  std::optional<size_t> Take(const Request& request);

  const Script script_;
  const std::string file_;

  std::mutex mu_;
  // Guarded by mu_.
  bool stopped_ = false;
  std::map<std::string, std::vector<bool>> used_;  // by owner; under "" when shared
  TimerQueue timers_;                              // last: its thread uses the rest
};

}  // namespace kerf::llm
