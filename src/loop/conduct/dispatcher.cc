#include "loop/conduct/dispatcher.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace kerf::conduct {

void Dispatcher::Inbox::Post(Answer answer) {
  const std::lock_guard lock(mu);
  answers.push_back(std::move(answer));
  arrived.notify_one();
}

void Dispatcher::Ask(size_t who, llm::Request request) {
  request.on_wait = [inbox = inbox_, who](double seconds, const std::string& why) {
    inbox->Post({who, fmt::format("tries again in {:.0f} s: {}", std::ceil(seconds), why)});
  };
  llm::Provider& model = model_of_(request.agent);
  model.Ask(std::move(request), [inbox = inbox_, who](Result<llm::Reply> reply) {
    inbox->Post({who, std::move(reply)});
  });
}

void Dispatcher::Verify(size_t who, const TaskSpec& spec, Candidate candidate) {
  judge_.Verify(
      spec, std::move(candidate),
      [inbox = inbox_, who](Result<Judgement> judgement) {
        inbox->Post({who, std::move(judgement)});
      },
      [inbox = inbox_, who](const std::string& what) {
        inbox->Post({who, what});
      });
}

void Dispatcher::Prepare(size_t who, const TaskSpec& spec) {
  judge_.Prepare(spec, [inbox = inbox_, who](Status ready) {
    inbox->Post({who, std::move(ready)});
  });
}

void Dispatcher::Post(size_t who, Judgement judgement) {
  inbox_->Post({who, Result<Judgement>(std::move(judgement))});
}

std::optional<Dispatcher::Answer> Dispatcher::Wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(inbox_->mu);
  inbox_->arrived.wait_for(lock, timeout, [&] { return !inbox_->answers.empty(); });
  if (inbox_->answers.empty()) return std::nullopt;
  Answer answer = std::move(inbox_->answers.front());
  inbox_->answers.pop_front();
  return answer;
}

}  // namespace kerf::conduct
