#include "llm/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kerf::llm {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// Refusals of requests that were under way together are one sign, not many.
constexpr int64_t kHalveAgainAfter = kSecond;
// So many failures in a row mean that the endpoint is down: one request at a time until one
// succeeds.
constexpr int kBreakAfter = 5;

std::optional<double> NumberOf(const HttpHeaders& headers, const std::string& name) {
  const std::string* text = FindHeader(headers, name);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (end == text->c_str() || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

RateLimiter::RateLimiter(Clock& clock, Options options)
    : clock_(clock), options_(options), allowed_(std::max(1, options.max_in_flight)) {}

int64_t RateLimiter::Bucket::WaitFor(double need, int64_t now) {
  if (left.has_value() && now >= refill_at) {
    left = limit;
    refill_at = now + window;
  }
  if (!left.has_value() || *left >= need) return 0;
  // What is more than a whole window goes when the window is full.
  if (limit.has_value() && need > *limit && *left >= *limit) return 0;
  return refill_at - now;
}

void RateLimiter::Bucket::Take(double need) {
  if (left.has_value()) *left = std::max(0.0, *left - need);
}

uint64_t RateLimiter::Enqueue(int64_t tokens, std::function<void()> start) {
  waiting_.push_back({++last_id_, tokens, std::move(start)});
  return last_id_;
}

bool RateLimiter::Withdraw(uint64_t id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& waiting) { return waiting.id == id; });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

std::optional<int64_t> RateLimiter::Pump() {
  while (!waiting_.empty()) {
    const int64_t now = clock_.MonotonicNanos();
    if (now < closed_until_) return closed_until_ - now;
    if (in_flight_ >= allowed()) return std::nullopt;
    const auto tokens = static_cast<double>(waiting_.front().tokens);
    const int64_t wait = std::max(requests_.WaitFor(1, now), tokens_.WaitFor(tokens, now));
    if (wait > 0) return wait;
    requests_.Take(1);
    tokens_.Take(tokens);
    ++in_flight_;
    const std::function<void()> start = std::move(waiting_.front().start);
    waiting_.pop_front();
    start();
  }
  return std::nullopt;
}

void RateLimiter::Learn(const HttpHeaders& headers) {
  const int64_t now = clock_.MonotonicNanos();
  const auto learn = [&](Bucket& bucket, const std::string& limit, const std::string& left,
                         const std::string& reset) {
    const std::optional<double> remaining = NumberOf(headers, left);
    const std::string* text = FindHeader(headers, reset);
    if (!remaining.has_value() || text == nullptr) return;
    const std::optional<double> seconds = ParseReset(*text, clock_.WallNanos());
    if (!seconds.has_value()) return;
    bucket.limit = NumberOf(headers, limit);
    if (!bucket.limit.has_value()) bucket.limit = std::max(*remaining, 1.0);
    bucket.left = remaining;
    bucket.window = std::llround(std::min(*seconds, 3600.0) * 1e9);
    bucket.refill_at = now + bucket.window;
  };
  learn(requests_, "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests");
  learn(tokens_, "x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens");
  learn(requests_, "anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset");
  learn(tokens_, "anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset");
}

void RateLimiter::Release(Outcome outcome, double wait_s) {
  const int64_t now = clock_.MonotonicNanos();
  --in_flight_;
  switch (outcome) {
    case Outcome::kOk:
      failures_in_a_row_ = 0;
      allowed_ = std::min<double>(options_.max_in_flight, allowed_ + 1 / std::max(allowed_, 1.0));
      break;
    case Outcome::kRateLimited:
      if (halved_at_ == 0 || now - halved_at_ >= kHalveAgainAfter) {
        allowed_ = std::max(1.0, std::floor(allowed_ / 2));
        halved_at_ = now;
      }
      closed_until_ = std::max<int64_t>(closed_until_, now + std::llround(wait_s * 1e9));
      break;
    case Outcome::kFailed:
      if (++failures_in_a_row_ >= kBreakAfter) allowed_ = 1;
      break;
    case Outcome::kWithdrawn:
      break;
  }
}

std::shared_ptr<RateLimiter> RateLimits::For(const std::string& endpoint_and_model) {
  const std::lock_guard lock(mu_);
  std::shared_ptr<RateLimiter>& limiter = limiters_[endpoint_and_model];
  if (limiter == nullptr) limiter = std::make_shared<RateLimiter>(clock_, options_);
  return limiter;
}

}  // namespace kerf::llm
