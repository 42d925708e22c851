// Leads many tasks with one thread: gives their work to models and the judge, and takes the answers
// in the order in which they come.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "llm/provider.h"
#include "loop/conduct/dispatcher.h"
#include "loop/conduct/judge.h"
#include "loop/conduct/task.h"

namespace kerf::conduct {

// What happened to a task, for whoever watches. Called by the driver's thread.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void Asked(size_t task, const Task& state, const std::string& agent) = 0;
  virtual void Answered(size_t task, const Task& state, const llm::Reply& reply) = 0;
  virtual void Judging(size_t task, const Task& state) = 0;
  // Its reference is run, before a model is asked.
  virtual void Preparing(size_t task, const Task& state) = 0;
  // What it waits for: a device, the next try at an endpoint.
  virtual void Waiting(size_t task, const Task& state, const std::string& what) = 0;
  virtual void Judged(size_t task, const Task& state, const Judgement& judgement) = 0;
  virtual void Ended(size_t task, const Task& state, const TaskOutcome& outcome) = 0;
  // Every so often while nothing happens, so that a clock on the screen can move.
  virtual void Idle() = 0;
};

class Driver {
 public:
  struct Options {
    // Find out whether a task can be judged before its first question: models cost money.
    bool prepare = false;
  };
  Driver(Dispatcher::ModelOf model_of, Judge& judge, Observer& observer, Options options);

  // Until all tasks have ended. When `interrupted` says so, no more work is given out, and what is
  // under way is waited for; the caller stops models and judge.
  std::vector<TaskOutcome> Run(std::vector<std::unique_ptr<Task>>& tasks,
                               const std::function<bool()>& interrupted);

  // Gives the next task, or null when there are no more. Called by the driver's thread.
  using Source = std::function<std::unique_ptr<Task>()>;
  // The same with at most `at_once` tasks under way, each asked for when there is room for it;
  // their outcomes go to the observer, with the numbers in which they came. After an interruption
  // no more are asked for.
  void Run(const Source& source, size_t at_once, const std::function<bool()>& interrupted);

 private:
  using TaskOf = std::function<Task&(size_t index)>;
  // Waits for an answer and gives out the next work of its task. The task's number when it has
  // ended.
  std::optional<size_t> Turn(const TaskOf& task_of, const std::function<bool()>& interrupted);
  // Gives out the next work of a task; false when it has ended.
  bool Advance(size_t index, Task& task);
  void Verify(size_t index, Task& task, Task::Work work);
  void Ask(size_t index, Task& task, Task::Work work);
  Status Take(Task& task, Dispatcher::Answer answer);
  void End(size_t index, Task& task);

  Dispatcher dispatcher_;
  Observer& observer_;
  const Options options_;
  std::set<size_t> prepared_;  // or being prepared
  std::vector<TaskOutcome> outcomes_;
};

}  // namespace kerf::conduct
