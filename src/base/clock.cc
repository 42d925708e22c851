#include "base/clock.h"

#include <ctime>

#include <charconv>
#include <cstdio>

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
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits || value < 0) return false;
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
      while (scale > 1 && TakeNumber(text, 1, digit)) {
        scale /= 10;
        fraction += digit * scale;
      }
    }
    TakeChar(text, 'Z');
  }
  if (!text.empty() || utc.tm_mon > 11 || utc.tm_mday < 1 || utc.tm_mday > 31 ||
      utc.tm_hour > 23 || utc.tm_min > 59 || utc.tm_sec > 60) {
    return std::nullopt;
  }
  return int64_t{timegm(&utc)} * kNanosPerSecond + fraction;
}

}  // namespace kerf
