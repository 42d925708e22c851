#include "llm/retry_policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include "base/clock.h"
#include "llm/white_space.h"

namespace kerf::llm {
namespace {

// More tries than this are a loop, whatever the server says.
constexpr int kMostRateLimited = 100;

bool ReadDigits(std::string_view& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

double UnitSeconds(std::string_view& text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 7> kUnits = {
      Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9}, Unit{"h", 3600},
      Unit{"m", 60},    Unit{"s", 1},     Unit{"d", 86400}};
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.seconds;
  }
  return 0;
}

std::optional<double> RetryAfter(const HttpHeaders& headers, int64_t wall_nanos) {
  if (const std::string* ms = FindHeader(headers, "retry-after-ms")) {
    std::string_view text = Trim(*ms);
    double value = 0;
    if (ReadDigits(text, value) && text.empty()) return value / 1000;
  }
  const std::string* after = FindHeader(headers, "retry-after");
  if (after == nullptr) return std::nullopt;
  if (const std::optional<double> seconds = ParseDuration(Trim(*after))) return seconds;
  if (const std::optional<int64_t> date = ParseHttpDate(Trim(*after))) {
    return std::max(0.0, static_cast<double>(*date - wall_nanos) * 1e-9);
  }
  return std::nullopt;
}

struct LimitNames {
  const char* remaining;
  const char* reset;
};
constexpr std::array<LimitNames, 6> kLimits = {
    LimitNames{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
    LimitNames{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
    LimitNames{"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
    LimitNames{"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
    LimitNames{"anthropic-ratelimit-input-tokens-remaining",
               "anthropic-ratelimit-input-tokens-reset"},
    LimitNames{"anthropic-ratelimit-output-tokens-remaining",
               "anthropic-ratelimit-output-tokens-reset"}};

// Of the limits that are used up the one that opens last; when none is, of all that are told.
std::optional<double> ResetWait(const HttpHeaders& headers, int64_t wall_nanos) {
  std::optional<double> used_up, any;
  for (const LimitNames& limit : kLimits) {
    const std::string* reset = FindHeader(headers, limit.reset);
    if (reset == nullptr) continue;
    const std::optional<double> seconds = ParseReset(*reset, wall_nanos);
    if (!seconds.has_value()) continue;
    const std::string* remaining = FindHeader(headers, limit.remaining);
    if (remaining != nullptr && Trim(*remaining) == "0") {
      used_up = std::max(used_up.value_or(0), *seconds);
    }
    any = std::max(any.value_or(0), *seconds);
  }
  return used_up.has_value() ? used_up : any;
}

std::string Seconds(double value) {
  const auto tenths = static_cast<int64_t>(std::llround(std::min(value, 1e9) * 10));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

const std::string* FindHeader(const HttpHeaders& headers, std::string_view name) {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) {
    if (header->first == name) return &header->second;
  }
  return nullptr;
}

std::optional<double> ParseDuration(std::string_view text) {
  double sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double value = 0;
    if (!ReadDigits(text, value)) return std::nullopt;
    if (text.empty() && sum == 0) return value;  // plain seconds
    const double unit = UnitSeconds(text);
    if (unit == 0) return std::nullopt;
    sum += value * unit;
  }
  return sum;
}

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  // All three forms of RFC 9110; the names of days are not checked.
  for (const char* format :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm parts = {};
    const std::string copy(text);
    const char* end = ::strptime(copy.c_str(), format, &parts);
    if (end == nullptr || *end != '\0') continue;
    const int64_t seconds = ::timegm(&parts);
    // Nanoseconds reach to the year 2262.
    if (seconds < 0 || seconds > 9'000'000'000) return std::nullopt;
    return seconds * 1'000'000'000;
  }
  return std::nullopt;
}

std::optional<double> ParseReset(std::string_view text, int64_t wall_nanos) {
  text = Trim(text);
  if (const std::optional<double> duration = ParseDuration(text)) {
    // Some gateways send the Unix time itself.
    if (*duration > 1e9) return std::max(0.0, *duration - static_cast<double>(wall_nanos) * 1e-9);
    return duration;
  }
  if (const std::optional<int64_t> time = ParseUtc(text)) {
    return std::max(0.0, static_cast<double>(*time - wall_nanos) * 1e-9);
  }
  return std::nullopt;
}

std::optional<double> ServerWait(const HttpHeaders& headers, int64_t wall_nanos) {
  if (const std::optional<double> wait = RetryAfter(headers, wall_nanos)) return wait;
  return ResetWait(headers, wall_nanos);
}

double RetryPolicy::Chance() { return static_cast<double>(ids_.Next() >> 11) * 0x1p-53; }

double RetryPolicy::Backoff(int tries, double most) {
  const double grown = limits_.first_backoff_s * std::exp2(std::min(tries, 30));
  return std::min(grown, most) * (1 - 0.25 * Chance());
}

std::optional<double> RetryPolicy::NextWait(ErrorClass error, const HttpHeaders& headers,
                                            int64_t wall_nanos, std::string& why) {
  const std::string* should = FindHeader(headers, "x-should-retry");
  if (should != nullptr && *should == "false") error = ErrorClass::kPermanent;
  if (should != nullptr && *should == "true" && error == ErrorClass::kPermanent) {
    error = ErrorClass::kRetry;
  }
  if (error != ErrorClass::kRetry && error != ErrorClass::kRateLimit) {
    why = "trying again would not help";
    return std::nullopt;
  }
  const bool rate = error == ErrorClass::kRateLimit;
  int& tries = rate ? rate_limited_ : failed_;
  ++tries;
  if (failed_ >= limits_.max_attempts || rate_limited_ >= kMostRateLimited) {
    why = "gave up after " + std::to_string(failed_ + rate_limited_) + " tries";
    return std::nullopt;
  }
  double wait = Backoff(tries - 1, rate ? limits_.max_rate_backoff_s : limits_.max_backoff_s);
  if (const std::optional<double> asked = ServerWait(headers, wall_nanos)) {
    // Never earlier than asked; a little later, so that many do not come back at once.
    wait = *asked + std::min(0.1 * *asked + 0.05, 2.0) * Chance();
  }
  if (waited_s_ + wait > limits_.max_wait_s) {
    why = "the next try would be in " + Seconds(wait) + ", " + Seconds(waited_s_) +
          " were waited already and the limit is " + Seconds(limits_.max_wait_s);
    return std::nullopt;
  }
  waited_s_ += wait;
  return wait;
}

}  // namespace kerf::llm
