// The pool inside one process; pool_process_test.cc has the rest.
#include "device/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "device/testing/temp_dir.h"

namespace kerf::device {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

Device Cuda(int number) {
  Device device;
  device.id = {Backend::kCuda, number};
  device.index = number;
  return device;
}

class PoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<DevicePool> MakePool(const std::vector<Device>& devices) {
    Result<std::unique_ptr<DevicePool>> pool = TryMakePool(devices);
    EXPECT_TRUE(pool.ok()) << pool.error().message;
    return std::move(pool).value();
  }
  Result<std::unique_ptr<DevicePool>> TryMakePool(const std::vector<Device>& devices) {
    KERF_ASSIGN_OR_RETURN(RuntimeDir dir, RuntimeDir::OpenPath(dir_.path() + "/devices"));
    return DevicePool::Open(std::move(dir), devices, *clock_);
  }
  std::string File(const std::string& name) { return "devices/" + name; }

  TempDir dir_;
  std::unique_ptr<Clock> clock_ = MakeSystemClock();
};

Lease Get(DevicePool& pool, const std::string& purpose = "test") {
  Result<Lease> lease = pool.Acquire({.purpose = purpose, .timeout = seconds(30)});
  EXPECT_TRUE(lease.ok()) << lease.error().message;
  return std::move(lease).value();
}

Result<Lease> GetNow(DevicePool& pool) { return pool.Acquire({.timeout = milliseconds(0)}); }

void AwaitWaiters(const DevicePool& pool, size_t count) {
  while (pool.waiting() != count) std::this_thread::yield();
}

TEST_F(PoolTest, GivesEachDeviceToOneHolder) {
  const auto pool = MakePool({Cuda(0), Cuda(1)});
  const Lease first = Get(*pool);
  const Lease second = Get(*pool);
  EXPECT_NE(first.device().id, second.device().id);
  const Result<Lease> third = GetNow(*pool);
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, ErrorCode::kTimeout);
}

TEST_F(PoolTest, ATimeoutTellsWhoHoldsWhat) {
  const auto pool = MakePool({Cuda(0)});
  const Lease lease = Get(*pool, "verify relu");
  const Result<Lease> other = pool->Acquire({.timeout = milliseconds(20)});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(other.error().message,
              AllOf(HasSubstr("cuda:0 is held by process " + std::to_string(::getpid())),
                    HasSubstr("(verify relu) since 20")));
}

TEST_F(PoolTest, ATimeoutWaitsAsLongAsItSays) {
  const auto pool = MakePool({Cuda(0)});
  const Lease lease = Get(*pool);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(pool->Acquire({.timeout = milliseconds(60)}).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(60));
}

TEST_F(PoolTest, ADestroyedLeaseGivesBack) {
  const auto pool = MakePool({Cuda(0)});
  { const Lease lease = Get(*pool); }
  EXPECT_TRUE(GetNow(*pool).ok());
}

TEST_F(PoolTest, ReleasingTwiceIsAnError) {
  const auto pool = MakePool({Cuda(0)});
  Lease lease = Get(*pool);
  EXPECT_TRUE(lease.Release().ok());
  const Lease other = Get(*pool);
  const Status again = lease.Release();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(again.error().message, HasSubstr("released or moved from before"));
  // AIKG's pool would now hand the device to a third party while `other` holds it.
  EXPECT_FALSE(GetNow(*pool).ok());
}

TEST_F(PoolTest, AMovedLeaseGivesBackOnce) {
  const auto pool = MakePool({Cuda(0)});
  Lease first = Get(*pool);
  Lease second = std::move(first);
  EXPECT_FALSE(first.active());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_FALSE(first.Release().ok());
  EXPECT_FALSE(GetNow(*pool).ok());
  EXPECT_TRUE(second.Release().ok());
  EXPECT_TRUE(GetNow(*pool).ok());
}

TEST_F(PoolTest, AssigningToALeaseGivesItsOldDeviceBack) {
  const auto pool = MakePool({Cuda(0), Cuda(1)});
  Lease lease = Get(*pool);
  const DeviceId old = lease.device().id;
  lease = Get(*pool);
  EXPECT_NE(lease.device().id, old);
  EXPECT_EQ(Get(*pool).device().id, old);
}

TEST_F(PoolTest, AnEmptyPoolIsAnError) {
  const auto pool = TryMakePool({});
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().code, ErrorCode::kInvalidInput);
}

TEST_F(PoolTest, ADeviceListedTwiceIsAnError) {
  const auto pool = TryMakePool({Cuda(1), Cuda(1)});
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().message, "device cuda:1 is listed twice");
}

TEST_F(PoolTest, AForeignIdIsAnError) {
  const auto pool = MakePool({Cuda(0), Cuda(1)});
  const Status aside = pool->SetAside({Backend::kCuda, 7}, "hot");
  ASSERT_FALSE(aside.ok());
  EXPECT_EQ(aside.error().message, "cuda:7 is not in this pool, which has cuda:0, cuda:1");
  EXPECT_FALSE(pool->Reset({Backend::kRocm, 0}).ok());
}

TEST_F(PoolTest, ServesSixteenThreadsInTheOrderTheyCame) {
  const auto pool = MakePool({Cuda(0)});
  Lease lease = Get(*pool);
  std::vector<int> order;  // guarded by the device itself
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      const Lease mine = Get(*pool);
      order.push_back(i);
    });
    AwaitWaiters(*pool, static_cast<size_t>(i) + 1);
  }
  ASSERT_TRUE(lease.Release().ok());
  threads.clear();
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

TEST_F(PoolTest, NeverSharesADeviceBetweenThreads) {
  const auto pool = MakePool({Cuda(0), Cuda(1), Cuda(2)});
  std::atomic<int> holders[3] = {};
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 40; ++round) {
        const Lease lease = Get(*pool);
        std::atomic<int>& count = holders[lease.device().id.number];
        if (count.fetch_add(1) != 0) ++failures;
        std::this_thread::yield();
        count.fetch_sub(1);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failures, 0);
}

TEST_F(PoolTest, StoppingEndsTheWaitAtTheHeadAndBehindIt) {
  const auto pool = MakePool({Cuda(0)});
  Lease lease = Get(*pool);
  std::stop_source stop_head;
  std::stop_source stop_second;
  Result<Lease> head = NotFound("not run");
  Result<Lease> second = NotFound("not run");
  std::jthread first_thread([&] { head = pool->Acquire({.stop = stop_head.get_token()}); });
  AwaitWaiters(*pool, 1);
  std::jthread second_thread([&] { second = pool->Acquire({.stop = stop_second.get_token()}); });
  AwaitWaiters(*pool, 2);
  std::jthread third_thread([&] { const Lease mine = Get(*pool); });
  AwaitWaiters(*pool, 3);
  stop_second.request_stop();
  second_thread.join();
  stop_head.request_stop();
  first_thread.join();
  for (const Result<Lease>* result : {&head, &second}) {
    ASSERT_FALSE(result->ok());
    EXPECT_EQ(result->error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(result->error().message, HasSubstr("stopped"));
  }
  // Whoever comes after a stopped one is still served.
  ASSERT_TRUE(lease.Release().ok());
  third_thread.join();
}

TEST_F(PoolTest, AStoppedRequestTakesNothing) {
  const auto pool = MakePool({Cuda(0)});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(pool->Acquire({.stop = stop.get_token()}).ok());
  EXPECT_TRUE(GetNow(*pool).ok());
}

TEST_F(PoolTest, ATimeoutBehindTheHeadDoesNotDisturbIt) {
  const auto pool = MakePool({Cuda(0)});
  Lease lease = Get(*pool);
  std::jthread head([&] { const Lease mine = Get(*pool); });
  AwaitWaiters(*pool, 1);
  EXPECT_FALSE(pool->Acquire({.timeout = milliseconds(20)}).ok());
  ASSERT_TRUE(lease.Release().ok());
  head.join();
  EXPECT_EQ(pool->waiting(), 0U);
}

TEST_F(PoolTest, TwoPoolsOfOneProcessExcludeEachOther) {
  const auto one = MakePool({Cuda(0)});
  const auto two = MakePool({Cuda(0)});
  const Lease lease = Get(*one);
  EXPECT_FALSE(GetNow(*two).ok());
}

TEST_F(PoolTest, DevicesSetAsideAreNotHandedOut) {
  const auto pool = MakePool({Cuda(0), Cuda(1)});
  ASSERT_TRUE(pool->SetAside({Backend::kCuda, 0}, "memory errors").ok());
  const Lease lease = Get(*pool);
  EXPECT_EQ(lease.device().id.number, 1);
  EXPECT_FALSE(GetNow(*pool).ok());
  const Result<bool> reset = pool->Reset({Backend::kCuda, 0});
  ASSERT_TRUE(reset.ok());
  EXPECT_TRUE(*reset);
  EXPECT_EQ(Get(*pool).device().id.number, 0);
}

TEST_F(PoolTest, WaitingWhenEveryDeviceIsSetAsideIsAnError) {
  Device broken = Cuda(1);
  broken.health = {HealthState::kSetAside, "npu-smi says Critical"};
  const auto pool = MakePool({Cuda(0), broken});
  Lease lease = Get(*pool);
  Result<Lease> waited = NotFound("not run");
  std::jthread waiter([&] { waited = pool->Acquire({}); });
  AwaitWaiters(*pool, 1);
  ASSERT_TRUE(pool->SetAside({Backend::kCuda, 0}, "hung for 300 s").ok());
  waiter.join();
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(waited.error().message,
              HasSubstr("cuda:0: hung for 300 s; cuda:1: npu-smi says Critical"));
  EXPECT_TRUE(lease.Release().ok());
}

TEST_F(PoolTest, GarbageInALockFileIsHarmless) {
  const auto pool = MakePool({Cuda(0)});
  for (const std::string& text : {std::string("\x00\xff{", 3), std::string("{\"pid\":-1}"),
                                  std::string(100000, '['), std::string("4711\n")}) {
    dir_.Write(File("cuda-0.lock"), text);
    const Lease lease = Get(*pool);
    EXPECT_FALSE(lease.recovered_from().has_value());
  }
}

TEST_F(PoolTest, TellsOfAnOwnerThatDied) {
  const auto pool = MakePool({Cuda(0)});
  dir_.Write(File("cuda-0.lock"),
             R"({"pid":4711,"start":1,"host":"box","purpose":"verify relu","since":"x"})");
  const Lease lease = Get(*pool);
  ASSERT_TRUE(lease.recovered_from().has_value());
  EXPECT_EQ(lease.recovered_from()->pid, 4711);
  EXPECT_EQ(lease.recovered_from()->purpose, "verify relu");
}

TEST_F(PoolTest, GarbageTicketsAreRemovedOrIgnored) {
  const auto pool = MakePool({Cuda(0)});
  dir_.Write(File("queue/00000000000000000001"), "garbage of a dead process");
  dir_.Write(File("queue/not a ticket"), "x");
  EXPECT_TRUE(GetNow(*pool).ok());
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/devices/queue/00000000000000000001"));
  EXPECT_TRUE(std::filesystem::exists(dir_.path() + "/devices/queue/not a ticket"));
}

TEST_F(PoolTest, ALinkInPlaceOfALockIsRefused) {
  const auto pool = MakePool({Cuda(0)});
  dir_.Write("precious", "content");
  std::filesystem::create_symlink(dir_.path() + "/precious", dir_.path() + "/devices/cuda-0.lock");
  const Result<Lease> lease = GetNow(*pool);
  ASSERT_FALSE(lease.ok());
  EXPECT_EQ(lease.error().code, ErrorCode::kDenied);
  EXPECT_EQ(std::filesystem::file_size(dir_.path() + "/precious"), 7U);
}

TEST_F(PoolTest, ALockFileThatWasReplacedIsOpenedAgain) {
  const auto pool = MakePool({Cuda(0)});
  { const Lease lease = Get(*pool); }
  std::filesystem::remove(dir_.path() + "/devices/cuda-0.lock");
  const Lease lease = Get(*pool);
  // Another pool sees the new file, and it must be the one we locked.
  EXPECT_FALSE(GetNow(*MakePool({Cuda(0)})).ok());
}

TEST_F(PoolTest, HolderOfTellsTheHolderUntilRelease) {
  const auto pool = MakePool({Cuda(0)});
  const Result<RuntimeDir> dir = RuntimeDir::OpenPath(dir_.path() + "/devices");
  ASSERT_TRUE(dir.ok());
  EXPECT_FALSE(HolderOf(*dir, {Backend::kCuda, 0})->has_value());
  Lease lease = Get(*pool, "verify relu");
  const Result<std::optional<Holder>> holder = HolderOf(*dir, {Backend::kCuda, 0});
  ASSERT_TRUE(holder.ok() && holder->has_value());
  EXPECT_TRUE((*holder)->owner_alive);
  EXPECT_THAT((*holder)->ToString(), HasSubstr("(verify relu)"));
  ASSERT_TRUE(lease.Release().ok());
  EXPECT_FALSE(HolderOf(*dir, {Backend::kCuda, 0})->has_value());
}

}  // namespace
}  // namespace kerf::device
