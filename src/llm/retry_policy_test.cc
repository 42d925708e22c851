#include "llm/retry_policy.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "llm/rate_limiter.h"

namespace kerf::llm {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(RetryAfter, IsReadInAllItsForms) {
  const int64_t now = *ParseUtc("2026-11-15T10:00:00Z");
  const auto wait = [&](const HttpHeaders& headers) { return ServerWait(headers, now); };
  EXPECT_DOUBLE_EQ(*wait({{"retry-after", "7"}}), 7);
  EXPECT_DOUBLE_EQ(*wait({{"retry-after", "0.5"}}), 0.5);
  EXPECT_DOUBLE_EQ(*wait({{"retry-after", "30"}, {"retry-after-ms", "1500"}}), 1.5);
  EXPECT_NEAR(*wait({{"retry-after", "Sun, 15 Nov 2026 10:00:42 GMT"}}), 42, 1e-6);
  EXPECT_NEAR(*wait({{"retry-after", "Sunday, 15-Nov-26 10:00:42 GMT"}}), 42, 1e-6);
  EXPECT_DOUBLE_EQ(*wait({{"retry-after", "Sun, 15 Nov 2026 09:00:00 GMT"}}), 0);
  EXPECT_EQ(wait({{"retry-after", "soon"}}), std::nullopt);
  EXPECT_EQ(wait({}), std::nullopt);
  EXPECT_DOUBLE_EQ(*wait({{"x-ratelimit-remaining-requests", "5"},
                          {"x-ratelimit-reset-requests", "1s"},
                          {"x-ratelimit-remaining-tokens", "0"},
                          {"x-ratelimit-reset-tokens", "6m0s"}}),
                   360);
  EXPECT_NEAR(*wait({{"anthropic-ratelimit-tokens-remaining", "0"},
                     {"anthropic-ratelimit-tokens-reset", "2026-11-15T10:00:09Z"}}),
              9, 1e-6);
}

TEST(RetryAfter, Durations) {
  EXPECT_DOUBLE_EQ(*ParseDuration("12ms"), 0.012);
  EXPECT_DOUBLE_EQ(*ParseDuration("1h2m3.5s"), 3723.5);
  EXPECT_DOUBLE_EQ(*ParseDuration("20"), 20);
  for (const char* bad : {"", "s", "-1", "1x", "nan", "inf", "1s2"}) {
    EXPECT_EQ(ParseDuration(bad), std::nullopt) << bad;
  }
}

TEST(RetryPolicy, GrowsAndGivesUpAfterItsAttempts) {
  FakeIds ids;  // chance is next to nothing
  RetryPolicy policy({.max_attempts = 4, .first_backoff_s = 1, .max_backoff_s = 3}, ids);
  std::string why;
  EXPECT_NEAR(*policy.NextWait(ErrorClass::kRetry, {}, 0, why), 1, 1e-6);
  EXPECT_NEAR(*policy.NextWait(ErrorClass::kRetry, {}, 0, why), 2, 1e-6);
  EXPECT_NEAR(*policy.NextWait(ErrorClass::kRetry, {}, 0, why), 3, 1e-6);
  EXPECT_EQ(policy.NextWait(ErrorClass::kRetry, {}, 0, why), std::nullopt);
  EXPECT_EQ(why, "gave up after 4 tries");
}

TEST(RetryPolicy, RefusalsForTheRateAreBoundedByWaitingOnly) {
  FakeIds ids;
  RetryPolicy policy({.max_attempts = 2, .max_wait_s = 300, .first_backoff_s = 0.5}, ids);
  std::string why;
  int tries = 0;
  double last = 0;
  while (const std::optional<double> wait = policy.NextWait(ErrorClass::kRateLimit, {}, 0, why)) {
    last = *wait;
    ++tries;
  }
  EXPECT_GT(tries, 8);
  EXPECT_NEAR(last, 60, 1e-3) << "longer than a quota's window is no use";
  EXPECT_LE(policy.waited_s(), 300);
  EXPECT_NE(why.find("the limit is 300.0 s"), std::string::npos) << why;
}

TEST(RetryPolicy, NeverComesEarlierThanAskedAndSpreads) {
  class High : public IdSource {
   public:
    uint64_t Next() override { return ~uint64_t{0}; }
  } high;
  FakeIds low;
  std::string why;
  const HttpHeaders headers = {{"retry-after", "10"}};
  EXPECT_GE(*RetryPolicy({}, low).NextWait(ErrorClass::kRateLimit, headers, 0, why), 10);
  const double late = *RetryPolicy({}, high).NextWait(ErrorClass::kRateLimit, headers, 0, why);
  EXPECT_GT(late, 10.5);
  EXPECT_LT(late, 12.1);
}

TEST(RetryPolicy, TheServerMayOverride) {
  FakeIds ids;
  std::string why;
  EXPECT_TRUE(
      RetryPolicy({}, ids).NextWait(ErrorClass::kPermanent, {{"x-should-retry", "true"}}, 0, why));
  EXPECT_FALSE(
      RetryPolicy({}, ids).NextWait(ErrorClass::kRetry, {{"x-should-retry", "false"}}, 0, why));
  EXPECT_FALSE(RetryPolicy({}, ids).NextWait(ErrorClass::kPermanent, {}, 0, why));
}

class RateLimiterTest : public testing::Test {
 protected:
  // Starts everything that may start; how many.
  int PumpCount() {
    const int before = started_;
    wait_ = limiter_.Pump();
    return started_ - before;
  }
  void Enqueue(int count, int64_t tokens = 1) {
    for (int i = 0; i < count; ++i) limiter_.Enqueue(tokens, [this] { ++started_; });
  }

  FakeClock clock_{1000 * kSecond};
  RateLimiter limiter_{clock_, {.max_in_flight = 8}};
  int started_ = 0;
  std::optional<int64_t> wait_;
};

TEST_F(RateLimiterTest, HalvesOnRefusalAndGrowsSlowly) {
  Enqueue(100);
  EXPECT_EQ(PumpCount(), 8);
  for (int i = 0; i < 8; ++i) limiter_.Release(RateLimiter::Outcome::kRateLimited);
  EXPECT_EQ(limiter_.allowed(), 4) << "eight refusals at once are one sign";
  EXPECT_EQ(PumpCount(), 4);
  clock_.Advance(2 * kSecond);
  for (int i = 0; i < 4; ++i) limiter_.Release(RateLimiter::Outcome::kRateLimited);
  EXPECT_EQ(limiter_.allowed(), 2);
  int successes = 0;
  while (limiter_.allowed() < 4) {
    PumpCount();
    limiter_.Release(RateLimiter::Outcome::kOk);
    ++successes;
  }
  EXPECT_GE(successes, 4) << "one more after as many successes as are allowed";
}

TEST_F(RateLimiterTest, NobodyIsSentBeforeTheTimeARefusalNamed) {
  Enqueue(1);
  PumpCount();
  limiter_.Release(RateLimiter::Outcome::kRateLimited, 5);
  Enqueue(1);
  EXPECT_EQ(PumpCount(), 0);
  EXPECT_EQ(wait_, 5 * kSecond);
  clock_.Advance(5 * kSecond);
  EXPECT_EQ(PumpCount(), 1);
}

TEST_F(RateLimiterTest, KeepsToTheWindowsItLearned) {
  limiter_.Learn({{"x-ratelimit-limit-requests", "3"},
                  {"x-ratelimit-remaining-requests", "2"},
                  {"x-ratelimit-reset-requests", "10s"}});
  Enqueue(6);
  EXPECT_EQ(PumpCount(), 2);
  EXPECT_EQ(wait_, 10 * kSecond);
  clock_.Advance(10 * kSecond);
  EXPECT_EQ(PumpCount(), 3);
}

TEST_F(RateLimiterTest, ARequestLargerThanTheWindowIsNotHeldForever) {
  limiter_.Learn({{"x-ratelimit-limit-tokens", "100"},
                  {"x-ratelimit-remaining-tokens", "50"},
                  {"x-ratelimit-reset-tokens", "1s"}});
  Enqueue(1, 1000);
  EXPECT_EQ(PumpCount(), 0);
  clock_.Advance(kSecond);
  EXPECT_EQ(PumpCount(), 1);
}

TEST_F(RateLimiterTest, ADeadEndpointIsProbedOneByOne) {
  Enqueue(20);
  PumpCount();
  for (int i = 0; i < 5; ++i) limiter_.Release(RateLimiter::Outcome::kFailed);
  EXPECT_EQ(limiter_.allowed(), 1);
}

TEST_F(RateLimiterTest, WithdrawnOnesNeverStart) {
  const uint64_t id = limiter_.Enqueue(1, [this] { ++started_; });
  EXPECT_TRUE(limiter_.Withdraw(id));
  EXPECT_FALSE(limiter_.Withdraw(id));
  EXPECT_EQ(PumpCount(), 0);
}

}  // namespace
}  // namespace kerf::llm
