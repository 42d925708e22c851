// How fast one endpoint may be asked for one model, learned from what it answers. Shared by all
// agents and tasks that ask there.
//
// Requests in flight: halved when the endpoint refuses for the rate, one more after as many
// successes as are allowed at once. Requests and tokens per window: from the headers that tell what
// is left and when it is refilled. After a refusal nobody is sent before the time it named.
//
// One thread only: the engine's. Time is handed in by the clock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "llm/retry_policy.h"

namespace kerf::llm {

class RateLimiter {
 public:
  struct Options {
    int max_in_flight = 64;
  };
  enum class Outcome { kOk, kRateLimited, kFailed, kWithdrawn };

  RateLimiter(Clock& clock, Options options);

  // Calls `start` from a later Pump(), in order.
  uint64_t Enqueue(int64_t tokens, std::function<void()> start);
  // False when it was started already.
  bool Withdraw(uint64_t id);
  // Starts what may start. Nanoseconds until calling it again may start more; nullopt: only
  // Release() or Enqueue() can.
  std::optional<int64_t> Pump();
  // What the answer's headers tell about limits.
  void Learn(const HttpHeaders& headers);
  // One that was started has ended. `wait_s`: nobody is sent before.
  void Release(Outcome outcome, double wait_s = 0);

  [[nodiscard]] int allowed() const { return static_cast<int>(allowed_); }
  [[nodiscard]] int in_flight() const { return in_flight_; }

 private:
  struct Waiting {
    uint64_t id;
    int64_t tokens;
    std::function<void()> start;
  };
  // One of the server's windows.
  struct Bucket {
    std::optional<double> limit;
    std::optional<double> left;
    int64_t refill_at = 0;  // monotonic nanoseconds
    int64_t window = 0;     // until the refill after that, as far as anybody knows
    // Nanoseconds to wait before `need` may be taken; 0: now.
    int64_t WaitFor(double need, int64_t now);
    void Take(double need);
  };

  Clock& clock_;
  const Options options_;
  std::deque<Waiting> waiting_;
  uint64_t last_id_ = 0;
  int in_flight_ = 0;
  double allowed_;
  int failures_in_a_row_ = 0;
  int64_t closed_until_ = 0;
  int64_t halved_at_ = 0;
  Bucket requests_;
  Bucket tokens_;
};

// The limiters of a process, by endpoint and model. Thread-safe; the limiters are not.
class RateLimits {
 public:
  RateLimits(Clock& clock, RateLimiter::Options options) : clock_(clock), options_(options) {}
  std::shared_ptr<RateLimiter> For(const std::string& endpoint_and_model);

 private:
  Clock& clock_;
  const RateLimiter::Options options_;
  std::mutex mu_;
  std::map<std::string, std::shared_ptr<RateLimiter>> limiters_;  // guarded by mu_
};

}  // namespace kerf::llm
