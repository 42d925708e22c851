// Several processes and one device directory; owners that are killed or stopped.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "device/pool.h"
#include "device/testing/temp_dir.h"

namespace kerf::device {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr milliseconds kLongEnough = seconds(60);

// A child that runs `body` and ends with its exit code. Killed and reaped when it goes.
class Process {
 public:
  explicit Process(const std::function<int()>& body) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(body());
  }
  ~Process() {
    if (pid_ > 0) Kill();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void Signal(int number) const { ::kill(pid_, number); }
  int Join() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void Kill() {
    Signal(SIGKILL);
    Join();
  }

 private:
  pid_t pid_;
};

// Bytes from children to the test.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(fds_, O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void Send(char c) const { (void)!::write(fds_[1], &c, 1); }
  [[nodiscard]] char Receive() const {
    char c = 0;
    EXPECT_EQ(::read(fds_[0], &c, 1), 1);
    return c;
  }

 private:
  int fds_[2] = {-1, -1};
};

class PoolProcessTest : public ::testing::Test {
 protected:
  std::unique_ptr<DevicePool> MakePool(int devices, DevicePool::Options options = {}) {
    std::vector<Device> list(static_cast<size_t>(devices));
    for (int i = 0; i < devices; ++i) list[static_cast<size_t>(i)].id = {Backend::kCuda, i};
    Result<RuntimeDir> dir = RuntimeDir::OpenPath(dir_.path() + "/devices");
    EXPECT_TRUE(dir.ok());
    auto pool = DevicePool::Open(std::move(dir).value(), list, *clock_, options);
    EXPECT_TRUE(pool.ok());
    return std::move(pool).value();
  }

  // Tickets that hold their text: an empty one is not locked yet, and whoever stops or overtakes
  // its owner then finds a dead one.
  void AwaitTickets(size_t count) {
    const std::string folder = dir_.path() + "/devices/" + kQueueFolder;
    for (size_t held = SIZE_MAX; held != count; std::this_thread::yield()) {
      std::error_code ignored;
      held = 0;
      for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const uintmax_t bytes = std::filesystem::file_size(entry.path(), ignored);
        held += bytes > 0 && bytes != static_cast<uintmax_t>(-1) ? 1 : 0;
      }
    }
  }

  // Acquires, says so, and never gives back.
  int HoldForEver(const Pipe& pipe) {
    const auto pool = MakePool(1);
    const Result<Lease> lease = pool->Acquire({.purpose = "hold", .timeout = kLongEnough});
    if (!lease.ok()) return 1;
    pipe.Send('h');
    while (true) ::pause();
  }

  // Takes the only device, says `name`, and gives it back.
  int TakeOnce(const Pipe& pipe, char name, DevicePool::Options options = {}) {
    const auto pool = MakePool(1, options);
    const Result<Lease> lease = pool->Acquire({.timeout = kLongEnough});
    if (!lease.ok()) return 1;
    pipe.Send(name);
    return 0;
  }

  // Takes devices `rounds` times; exit code 2 when somebody else had the device's marker.
  int Compete(int devices, int rounds) {
    const auto pool = MakePool(devices);
    for (int round = 0; round < rounds; ++round) {
      const Result<Lease> lease = pool->Acquire({.timeout = kLongEnough});
      if (!lease.ok()) {
        std::fprintf(stderr, "%s\n", lease.error().message.c_str());
        return 1;
      }
      const std::string marker = dir_.path() + "/marker" + lease->device().id.FileStem();
      const int fd = ::open(marker.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (fd < 0) return 2;
      ::close(fd);
      std::this_thread::yield();
      if (::unlink(marker.c_str()) != 0) return 3;
    }
    return 0;
  }

  void ExpectExclusive(int processes, int devices) {
    std::vector<std::unique_ptr<Process>> children;
    for (int i = 0; i < processes; ++i) {
      children.push_back(std::make_unique<Process>([&] { return Compete(devices, 150); }));
    }
    for (const auto& child : children) EXPECT_EQ(child->Join(), 0);
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/devices/queue"));
  }

  TempDir dir_;
  std::unique_ptr<Clock> clock_ = MakeSystemClock();
};

TEST_F(PoolProcessTest, TwoProcessesNeverHoldOneDeviceAtOnce) { ExpectExclusive(2, 1); }

TEST_F(PoolProcessTest, FourProcessesNeverHoldOneDeviceAtOnce) { ExpectExclusive(4, 2); }

TEST_F(PoolProcessTest, AKilledOwnersDeviceIsFreeAtOnce) {
  const Pipe pipe;
  Process owner([&] { return HoldForEver(pipe); });
  ASSERT_EQ(pipe.Receive(), 'h');
  const auto pool = MakePool(1);
  const Result<Lease> early = pool->Acquire({.timeout = milliseconds(0)});
  ASSERT_FALSE(early.ok());
  EXPECT_THAT(early.error().message, HasSubstr("process " + std::to_string(owner.pid())));
  const pid_t pid = owner.pid();
  owner.Kill();
  const Result<Lease> lease = pool->Acquire({.timeout = milliseconds(0)});
  ASSERT_TRUE(lease.ok()) << lease.error().message;
  ASSERT_TRUE(lease->recovered_from().has_value());
  EXPECT_EQ(lease->recovered_from()->pid, pid);
  EXPECT_FALSE(IsAlive(*lease->recovered_from()));
}

TEST_F(PoolProcessTest, AWaiterGetsTheDeviceOfAnOwnerThatIsKilled) {
  const Pipe pipe;
  Process owner([&] { return HoldForEver(pipe); });
  ASSERT_EQ(pipe.Receive(), 'h');
  const auto pool = MakePool(1);
  const std::jthread killer([&] {
    AwaitTickets(1);
    owner.Signal(SIGKILL);
  });
  const Result<Lease> lease = pool->Acquire({.timeout = kLongEnough});
  EXPECT_TRUE(lease.ok()) << lease.error().message;
}

TEST_F(PoolProcessTest, ServesProcessesInTheOrderTheyCame) {
  const Pipe pipe;
  const auto pool = MakePool(1);
  Result<Lease> lease = pool->Acquire({});
  ASSERT_TRUE(lease.ok());
  std::vector<std::unique_ptr<Process>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Process>(
        [&] { return TakeOnce(pipe, static_cast<char>('a' + i), {.patience = kLongEnough}); }));
    AwaitTickets(static_cast<size_t>(i) + 1);
  }
  // A newcomer does not pass those who wait, although the device is free for a moment.
  ASSERT_TRUE(lease->Release().ok());
  (void)pool->Acquire({.timeout = kLongEnough}).ok();
  std::string order;
  for (int i = 0; i < 4; ++i) order += pipe.Receive();
  EXPECT_EQ(order, "abcd");
  for (const auto& child : children) EXPECT_EQ(child->Join(), 0);
}

TEST_F(PoolProcessTest, AKilledWaiterLosesItsPlace) {
  const Pipe pipe;
  const auto pool = MakePool(1);
  Result<Lease> lease = pool->Acquire({});
  ASSERT_TRUE(lease.ok());
  Process first([&] { return TakeOnce(pipe, 'a'); });
  AwaitTickets(1);
  Process second([&] { return TakeOnce(pipe, 'b'); });
  AwaitTickets(2);
  first.Kill();
  ASSERT_TRUE(lease->Release().ok());
  EXPECT_EQ(pipe.Receive(), 'b');
  EXPECT_EQ(second.Join(), 0);
}

TEST_F(PoolProcessTest, AStoppedWaiterIsOvertaken) {
  const Pipe pipe;
  const auto pool = MakePool(1, {.patience = milliseconds(100)});
  Result<Lease> lease = pool->Acquire({});
  ASSERT_TRUE(lease.ok());
  Process stopped([&] { return TakeOnce(pipe, 'a'); });
  AwaitTickets(1);
  stopped.Signal(SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(stopped.pid(), &status, WUNTRACED), stopped.pid());
  ASSERT_TRUE(lease->Release().ok());
  // Free, but promised to the stopped one: that counts until our patience ends.
  EXPECT_FALSE(pool->Acquire({.timeout = milliseconds(0)}).ok());
  {
    const Result<Lease> again = pool->Acquire({.timeout = kLongEnough});
    EXPECT_TRUE(again.ok()) << again.error().message;
  }
  stopped.Signal(SIGCONT);
  EXPECT_EQ(pipe.Receive(), 'a');
  EXPECT_EQ(stopped.Join(), 0);
}

TEST_F(PoolProcessTest, ABusyProcessDoesNotStarveAnother) {
  Process modest([&] { return Compete(1, 20); });
  std::atomic<bool> done = false;
  const auto pool = MakePool(1);
  std::vector<std::jthread> busy;
  for (int i = 0; i < 8; ++i) {
    busy.emplace_back([&] {
      while (!done) (void)pool->Acquire({.timeout = kLongEnough}).ok();
    });
  }
  EXPECT_EQ(modest.Join(), 0);
  done = true;
}

TEST_F(PoolProcessTest, TellsOfADescendantThatKeepsTheDevice) {
  const Pipe end;
  Process owner([&]() -> int {
    const auto pool = MakePool(1);
    const Result<Lease> lease = pool->Acquire({.purpose = "leaky", .timeout = kLongEnough});
    // Without exec it inherits the lock.
    if (::fork() == 0) {
      (void)end.Receive();
      ::_exit(0);
    }
    ::_exit(0);
  });
  EXPECT_EQ(owner.Join(), 0);
  const Result<RuntimeDir> dir = RuntimeDir::OpenPath(dir_.path() + "/devices");
  const Result<std::optional<Holder>> holder = HolderOf(*dir, {Backend::kCuda, 0});
  ASSERT_TRUE(holder.ok() && holder->has_value());
  EXPECT_FALSE((*holder)->owner_alive);
  EXPECT_THAT((*holder)->ToString(), HasSubstr("left running when it ended"));
  end.Send('x');
}

// What the processes of the next test know of each other.
struct Arena {
  static constexpr int kDevices = 2;
  std::atomic<pid_t> holder[kDevices];
  std::atomic<int> taken;
  std::atomic<int> shared;  // times that a device had two holders
  // Written before the kill, so that a holder in this list may have died.
  std::atomic<pid_t> killed[128];

  bool WasKilled(pid_t pid) const {
    for (const auto& victim : killed) {
      if (victim.load() == pid) return true;
    }
    return false;
  }
};

int TakeUntilKilled(DevicePool& pool, Arena& arena) {
  while (true) {
    const Result<Lease> lease = pool.Acquire({.timeout = kLongEnough});
    if (!lease.ok()) return 1;
    std::atomic<pid_t>& holder = arena.holder[lease->device().id.number];
    const pid_t before = holder.exchange(::getpid());
    if (before != 0 && !arena.WasKilled(before)) ++arena.shared;
    ++arena.taken;
    holder.store(0);
  }
}

TEST_F(PoolProcessTest, SurvivesAHundredRandomKills) {
  void* memory =
      ::mmap(nullptr, sizeof(Arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& arena = *new (memory) Arena();
  const auto start = [&] {
    return std::make_unique<Process>(
        [&] { return TakeUntilKilled(*MakePool(Arena::kDevices), arena); });
  };
  std::vector<std::unique_ptr<Process>> children;
  for (int i = 0; i < 4; ++i) children.push_back(start());
  std::mt19937 random(20261115);
  for (int round = 0; round < 100; ++round) {
    // Some are killed while they start, some while they wait, some while they hold.
    const int enough = arena.taken + static_cast<int>(random() % 8);
    while (arena.taken < enough) std::this_thread::yield();
    for (unsigned spin = random() % 20000; spin > 0; --spin) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    std::unique_ptr<Process>& victim = children[random() % children.size()];
    arena.killed[round] = victim->pid();
    victim->Kill();
    victim = start();
  }
  children.clear();
  EXPECT_EQ(arena.shared, 0);
  // Nothing that the dead left behind is in the way.
  const auto pool = MakePool(Arena::kDevices);
  const Result<Lease> one = pool->Acquire({.timeout = milliseconds(0)});
  const Result<Lease> two = pool->Acquire({.timeout = milliseconds(0)});
  EXPECT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/devices/queue"));
  ::munmap(memory, sizeof(Arena));
}

}  // namespace
}  // namespace kerf::device
