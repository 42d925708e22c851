#include "llm/timer_queue.h"

#include <utility>

namespace kerf::llm {

TimerQueue::~TimerQueue() {
  {
    const std::lock_guard lock(mu_);
    flushed_ = true;
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TimerQueue::After(std::chrono::nanoseconds delay, Task task) {
  const std::lock_guard lock(mu_);
  waiting_.emplace(std::chrono::steady_clock::now() + delay, std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_all();
}

void TimerQueue::Flush() {
  const std::lock_guard lock(mu_);
  flushed_ = true;
  changed_.notify_all();
}

void TimerQueue::Run() {
  std::unique_lock lock(mu_);
  while (true) {
    if (waiting_.empty()) {
      if (ending_) return;
      changed_.wait(lock);
      continue;
    }
    const auto first = waiting_.begin();
    const Time due = first->first;
    if (!flushed_ && due > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, due);
      continue;
    }
    Task task = std::move(first->second);
    waiting_.erase(first);
    lock.unlock();
    task();
    task = nullptr;  // what it holds may be waited for
    lock.lock();
  }
}

}  // namespace kerf::llm
