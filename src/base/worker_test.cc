#include "base/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace kerf {
namespace {

TEST(Worker, DoesJobsInOrderAndTellsHowTheyEnded) {
  std::vector<int> order;
  Worker worker;
  std::vector<std::shared_future<Status>> done;
  for (int i = 0; i < 100; ++i) {
    done.push_back(worker.Do([&order, i]() -> Status {
      order.push_back(i);
      return i % 2 == 0 ? Status() : Status(InvalidInput("odd"));
    }));
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<size_t>(i)].get().ok(), i % 2 == 0);
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Worker, EndsWhenEveryJobIsDone) {
  std::atomic<int> done = 0;
  {
    Worker worker;
    for (int i = 0; i < 50; ++i) {
      worker.Do([&]() -> Status {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        ++done;
        return {};
      });
    }
  }
  EXPECT_EQ(done, 50);
}

TEST(Worker, WithoutJobsItIsNothing) { const Worker worker; }

}  // namespace
}  // namespace kerf
