// Gives work to models and the judge, and collects what comes back for the one thread that leads
// it.
//
//   dispatcher.Ask(index, std::move(request));
//   while (auto answer = dispatcher.Wait(200ms)) … answer->who …
//
// Ask, Verify and Wait are called by that one thread; answers arrive from any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "artifact/candidate.h"
#include "artifact/task_spec.h"
#include "llm/provider.h"
#include "loop/conduct/judge.h"

namespace kerf::conduct {

class Dispatcher {
 public:
  // Which model answers an agent ("aul_designer", "conductor_check" …).
  using ModelOf = std::function<llm::Provider&(const std::string& agent)>;

  struct Answer {
    size_t who = 0;
    // A Status: what Prepare() came to. A string is no answer yet: what it waits for.
    std::variant<Result<llm::Reply>, Result<Judgement>, Status, std::string> what;
  };

  Dispatcher(ModelOf model_of, Judge& judge) : model_of_(std::move(model_of)), judge_(judge) {}

  void Ask(size_t who, llm::Request request);
  void Verify(size_t who, const TaskSpec& spec, Candidate candidate);
  void Prepare(size_t who, const TaskSpec& spec);
  // An answer that is known already.
  void Post(size_t who, Judgement judgement);
  // The next answer, in the order in which they came; nullopt when none did in time.
  std::optional<Answer> Wait(std::chrono::milliseconds timeout);

 private:
  // Shared with the callbacks, which may outlive the dispatcher.
  struct Inbox {
    std::mutex mu;
    std::condition_variable arrived;
    std::deque<Answer> answers;  // guarded by mu

    void Post(Answer answer);
  };

  const ModelOf model_of_;
  Judge& judge_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
};

}  // namespace kerf::conduct
