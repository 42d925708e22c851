#include "loop/verify/process_view.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace kerf::verify {
namespace {

using std::chrono::milliseconds;

// A child that does something until the test is over. What it forks goes with it: it has a process
// group of its own.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& work) : pid_(::fork()) {
    if (pid_ == 0) {
      ::setpgid(0, 0);
      work();
      for (;;) ::pause();
    }
    ::setpgid(pid_, pid_);
  }
  ~ChildProcess() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

// Waits for what another process does in its own time.
bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(ProcessView, TellsWhoComputesFromWhoWaits) {
  const ChildProcess spins([] {
    for (std::atomic<int> i = 0;;) ++i;
  });
  const ChildProcess waits([] {});
  EXPECT_TRUE(Eventually([&] { return CpuTime(spins.pid()) > milliseconds(20); }));
  EXPECT_TRUE(IsBusy(spins.pid()));
  EXPECT_TRUE(Eventually([&] { return !IsBusy(waits.pid()); }));
  EXPECT_LT(CpuTime(waits.pid()), milliseconds(20));
}

TEST(ProcessView, KnowsNothingOfAProcessThatHasGone) {
  pid_t pid = 0;
  {
    const ChildProcess gone([] {});
    pid = gone.pid();
  }
  EXPECT_EQ(CpuTime(pid).count(), 0);
  EXPECT_FALSE(IsBusy(pid));
  EXPECT_EQ(CountOthers(pid), 0);
  EXPECT_TRUE(ExecutableFiles(pid).empty());
}

TEST(ProcessView, CountsChildrenAndTheirChildren) {
  const ChildProcess alone([] {});
  EXPECT_EQ(CountOthers(alone.pid()), 0);
  const ChildProcess parent([] {
    if (::fork() == 0) ::fork();
  });
  EXPECT_TRUE(Eventually([&] { return CountOthers(parent.pid()) == 2; }));
}

TEST(ProcessView, NamesTheFilesCodeComesFrom) {
  const ChildProcess child([] {});
  const std::vector<std::string> files = ExecutableFiles(child.pid());
  EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                          [](const auto& name) { return name.rfind("libc.so", 0) == 0; }));
}

}  // namespace
}  // namespace kerf::verify
