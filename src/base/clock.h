// Time is injected, so that a run can be replayed bit for bit and tests need not wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kerf {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since the Unix epoch.
  virtual int64_t WallNanos() = 0;
  // Nanoseconds from an arbitrary start; never goes back.
  virtual int64_t MonotonicNanos() = 0;
};

std::unique_ptr<Clock> MakeSystemClock();

// Moves only when told to.
class FakeClock : public Clock {
 public:
  explicit FakeClock(int64_t wall_nanos = 0) : wall_nanos_(wall_nanos) {}
  int64_t WallNanos() override { return wall_nanos_; }
  int64_t MonotonicNanos() override { return wall_nanos_; }
  void Advance(int64_t nanos) { wall_nanos_ += nanos; }

 private:
  int64_t wall_nanos_;
};

// "2026-11-15T03:29:31.123456Z"
std::string FormatUtc(int64_t wall_nanos);
// Reads what FormatUtc writes, and the same without a fraction or without a time of day. nullopt
// for anything else.
std::optional<int64_t> ParseUtc(std::string_view text);

}  // namespace kerf
