#include "base/worker.h"

namespace kerf {

Worker::~Worker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mu_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::shared_future<Status> Worker::Do(std::function<Status()> job) {
  std::packaged_task<Status()> task(std::move(job));
  std::shared_future<Status> done = task.get_future().share();
  {
    const std::lock_guard lock(mu_);
    jobs_.push_back(std::move(task));
  }
  changed_.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  return done;
}

void Worker::Run() {
  for (;;) {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::packaged_task<Status()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
  }
}

}  // namespace kerf
