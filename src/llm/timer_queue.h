// Calls functions later, all from one thread of its own, which starts with the first of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace kerf::llm {

class TimerQueue {
 public:
  using Task = std::function<void()>;

  TimerQueue() = default;
  // Runs what is still waiting, at once, so that nobody waits for it forever.
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Thread-safe. At once, in the queue's thread, after Flush().
  void After(std::chrono::nanoseconds delay, Task task);
  // Everything waiting runs now, and what comes later runs without delay. Thread-safe.
  void Flush();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void Run();

  std::mutex mu_;
  std::condition_variable changed_;
  // Guarded by mu_.
  std::multimap<Time, Task> waiting_;
  bool flushed_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace kerf::llm
