#include "loop/conduct/driver.h"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace kerf::conduct {

Driver::Driver(Dispatcher::ModelOf model_of, Judge& judge, Observer& observer, Options options)
    : dispatcher_(std::move(model_of), judge), observer_(observer), options_(options) {}

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
  std::optional<Dispatcher::Answer> answer = dispatcher_.Wait(std::chrono::milliseconds(200));
  const bool stop = interrupted();
  if (!answer.has_value()) {
    observer_.Idle();
    return std::nullopt;
  }
  const size_t index = answer->who;
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
    task.Interrupt();
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
    dispatcher_.Give(index, std::move(*work.known));
  } else {
    dispatcher_.Verify(index, task.spec(), std::move(work.candidate));
  }
}

void Driver::Ask(size_t index, Task& task, Task::Work work) {
  if (options_.prepare && prepared_.insert(index).second) {
    // Its Next() gives the same work again.
    observer_.Preparing(index, task);
    dispatcher_.Prepare(index, task.spec());
    return;
  }
  observer_.Asked(index, task, work.request.agent);
  dispatcher_.Ask(index, std::move(work.request));
}

Status Driver::Take(Task& task, Dispatcher::Answer answer) {
  if (auto* reply = std::get_if<Result<llm::Reply>>(&answer.what)) {
    if (reply->ok()) observer_.Answered(answer.who, task, **reply);
    return task.TakeReply(std::move(*reply));
  }
  if (const auto* ready = std::get_if<Status>(&answer.what)) {
    if (!ready->ok()) task.Fail(ready->error(), "it cannot be judged");
    return {};
  }
  auto& judgement = std::get<Result<Judgement>>(answer.what);
  if (judgement.ok()) observer_.Judged(answer.who, task, *judgement);
  return task.TakeJudgement(std::move(judgement));
}

void Driver::End(size_t index, Task& task) {
  const std::optional<Error> error = outcomes_[index].error;
  outcomes_[index] = task.outcome();
  if (error.has_value()) outcomes_[index].error = error;
  observer_.Ended(index, task, outcomes_[index]);
}

}  // namespace kerf::conduct
