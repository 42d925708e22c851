// One thread that does jobs in the order they come. It begins with the first job, and the object
// ends when the last one is done.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace kerf {

class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // What the job refers to must outlive it: nobody waits for it when the future is let go of.
  std::shared_future<Status> Do(std::function<Status()> job);

 private:
  void Run();

  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<Status()>> jobs_;  // guarded by mu_
  bool closing_ = false;                           // guarded by mu_
  std::thread thread_;
};

}  // namespace kerf
