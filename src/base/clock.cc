#include "base/clock.h"

#include <ctime>

#include <charconv>
#include <cstdio>
#include <limits>

namespace kerf {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

int64_t Now(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

class SystemClock : public Clock {
 public:
  int64_t WallNanos() override { return Now(CLOCK_REALTIME); }
  int64_t MonotonicNanos() override { return Now(CLOCK_MONOTONIC); }
};

// Takes exactly `digits` digits from the front of `text`.
bool TakeNumber(std::string_view& text, size_t digits, int& value) {
  // from_chars alone would take a minus sign for a digit.
  if (text.size() < digits || text.front() == '-') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits) return false;
  text.remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::unique_ptr<Clock> MakeSystemClock() { return std::make_unique<SystemClock>(); }

std::string FormatUtc(int64_t wall_nanos) {
  int64_t nanos = wall_nanos % kNanosPerSecond;
  time_t seconds = wall_nanos / kNanosPerSecond;
  if (nanos < 0) {
    nanos += kNanosPerSecond;
    --seconds;
  }
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                static_cast<int>(nanos / 1000));
  return text;
}

std::optional<int64_t> ParseUtc(std::string_view text) {
  tm utc{};
  if (!TakeNumber(text, 4, utc.tm_year) || !TakeChar(text, '-') ||
      !TakeNumber(text, 2, utc.tm_mon) || !TakeChar(text, '-') ||
      !TakeNumber(text, 2, utc.tm_mday)) {
    return std::nullopt;
  }
  utc.tm_year -= 1900;
  utc.tm_mon -= 1;
  int64_t fraction = 0;
  if (!text.empty()) {
    if (!TakeChar(text, 'T') && !TakeChar(text, ' ')) return std::nullopt;
    if (!TakeNumber(text, 2, utc.tm_hour) || !TakeChar(text, ':') ||
        !TakeNumber(text, 2, utc.tm_min) || !TakeChar(text, ':') ||
        !TakeNumber(text, 2, utc.tm_sec)) {
      return std::nullopt;
    }
    if (TakeChar(text, '.')) {
      int64_t scale = kNanosPerSecond;
      int digit = 0;
      if (text.empty() || text.front() == 'Z') return std::nullopt;
      while (scale > 1 && TakeNumber(text, 1, digit)) {
        scale /= 10;
        fraction += digit * scale;
      }
    }
    TakeChar(text, 'Z');
  }
  if (!text.empty() || utc.tm_hour > 23 || utc.tm_min > 59 || utc.tm_sec > 60) {
    return std::nullopt;
  }
  // timegm() turns February 31 into March 3 and writes that back: a day that moved was none.
  tm normalised = utc;
  normalised.tm_hour = normalised.tm_min = normalised.tm_sec = 0;
  (void)timegm(&normalised);
  if (normalised.tm_mon != utc.tm_mon || normalised.tm_mday != utc.tm_mday) return std::nullopt;
  const int64_t seconds = timegm(&utc);
  // What int64_t nanoseconds can hold: the years 1678 to 2261.
  constexpr int64_t kMostSeconds = std::numeric_limits<int64_t>::max() / kNanosPerSecond - 1;
  if (seconds > kMostSeconds || seconds < -kMostSeconds) return std::nullopt;
  return seconds * kNanosPerSecond + fraction;
}

}  // namespace kerf
