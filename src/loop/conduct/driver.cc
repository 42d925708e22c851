#include "loop/conduct/driver.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace kerf::conduct {

void Driver::Inbox::Post(Answer answer) {
  const std::lock_guard lock(mu);
  answers.push_back(std::move(answer));
  arrived.notify_one();
}

Driver::Driver(ModelOf model_of, Judge& judge, Observer& observer, Options options)
    : model_of_(std::move(model_of)), judge_(judge), observer_(observer), options_(options) {}

std::vector<TaskOutcome> Driver::Run(std::vector<std::unique_ptr<Task>>& tasks,
                                     const std::function<bool()>& interrupted) {
  outcomes_.assign(tasks.size(), {});
  prepared_.clear();
  size_t running = 0;
  for (size_t i = 0; i < tasks.size(); ++i) running += Advance(i, *tasks[i]) ? 1 : 0;
  const TaskOf task_of = [&](size_t index) -> Task& { return *tasks[index]; };
  while (running > 0) {
    if (Turn(task_of, interrupted).has_value()) --running;
  }
  return std::move(outcomes_);
}

void Driver::Run(const Source& source, size_t at_once, const std::function<bool()>& interrupted) {
  outcomes_.clear();
  prepared_.clear();
  std::map<size_t, std::unique_ptr<Task>> running;
  const TaskOf task_of = [&](size_t index) -> Task& { return *running.at(index); };
  for (bool more = true; more || !running.empty();) {
    while (more && running.size() < at_once) {
      std::unique_ptr<Task> task = interrupted() ? nullptr : source();
      more = task != nullptr;
      if (!more) break;
      const size_t index = outcomes_.size();
      outcomes_.emplace_back();
      if (Advance(index, *task)) running[index] = std::move(task);
    }
    if (running.empty()) continue;
    if (const auto ended = Turn(task_of, interrupted)) running.erase(*ended);
  }
}

std::optional<size_t> Driver::Turn(const TaskOf& task_of,
                                   const std::function<bool()>& interrupted) {
  std::optional<Answer> answer;
  {
    std::unique_lock lock(inbox_->mu);
    inbox_->arrived.wait_for(lock, std::chrono::milliseconds(200),
                             [&] { return !inbox_->answers.empty(); });
    if (!inbox_->answers.empty()) {
      answer = std::move(inbox_->answers.front());
      inbox_->answers.pop_front();
    }
  }
  const bool stop = interrupted();
  if (!answer.has_value()) {
    observer_.Idle();
    return std::nullopt;
  }
  const size_t index = answer->task;
  Task& task = task_of(index);
  if (const auto* what = std::get_if<std::string>(&answer->what)) {
    observer_.Waiting(index, task, *what);
    return std::nullopt;
  }
  const Status taken = Take(task, std::move(*answer));
  if (!taken.ok()) {
    outcomes_[index].error = taken.error();
    task.Stop("it could not be recorded: " + taken.error().message);
  } else if (stop) {
    task.Stop("interrupted");
  }
  if (Advance(index, task)) return std::nullopt;
  return index;
}

bool Driver::Advance(size_t index, Task& task) {
  Result<Task::Work> work = task.Next();
  if (!work.ok()) {
    outcomes_[index].error = work.error();
    task.Stop(work.error().message);
    End(index, task);
    return false;
  }
  switch (work->kind) {
    case Task::Work::Kind::kDone:
      End(index, task);
      return false;
    case Task::Work::Kind::kVerify:
      Verify(index, task, std::move(*work));
      return true;
    case Task::Work::Kind::kAsk:
      Ask(index, task, std::move(*work));
      return true;
  }
  return false;
}

void Driver::Verify(size_t index, Task& task, Task::Work work) {
  observer_.Judging(index, task);
  if (work.known.has_value()) {
    inbox_->Post({index, Result<Judgement>(std::move(*work.known))});
    return;
  }
  judge_.Verify(
      task.spec(), std::move(work.candidate),
      [inbox = inbox_, index](Result<Judgement> judgement) {
        inbox->Post({index, std::move(judgement)});
      },
      [inbox = inbox_, index](const std::string& what) {
        inbox->Post({index, what});
      });
}

void Driver::Ask(size_t index, Task& task, Task::Work work) {
  if (options_.prepare && prepared_.insert(index).second) {
    // Its Next() gives the same work again.
    observer_.Preparing(index, task);
    judge_.Prepare(task.spec(), [inbox = inbox_, index](Status ready) {
      inbox->Post({index, std::move(ready)});
    });
    return;
  }
  observer_.Asked(index, task, work.request.agent);
  work.request.on_wait = [inbox = inbox_, index](double seconds, const std::string& why) {
    inbox->Post({index, fmt::format("tries again in {:.0f} s: {}", std::ceil(seconds), why)});
  };
  llm::Provider& model = model_of_(work.request.agent);
  model.Ask(std::move(work.request), [inbox = inbox_, index](Result<llm::Reply> reply) {
    inbox->Post({index, std::move(reply)});
  });
}

Status Driver::Take(Task& task, Answer answer) {
  if (auto* reply = std::get_if<Result<llm::Reply>>(&answer.what)) {
    if (reply->ok()) observer_.Answered(answer.task, task, **reply);
    return task.TakeReply(std::move(*reply));
  }
  if (const auto* ready = std::get_if<Status>(&answer.what)) {
    if (!ready->ok()) task.Fail(ready->error(), "it cannot be judged");
    return {};
  }
  auto& judgement = std::get<Result<Judgement>>(answer.what);
  if (judgement.ok()) observer_.Judged(answer.task, task, *judgement);
  return task.TakeJudgement(std::move(judgement));
}

void Driver::End(size_t index, Task& task) {
  const std::optional<Error> error = outcomes_[index].error;
  outcomes_[index] = task.outcome();
  if (error.has_value()) outcomes_[index].error = error;
  observer_.Ended(index, task, outcomes_[index]);
}

}  // namespace kerf::conduct
