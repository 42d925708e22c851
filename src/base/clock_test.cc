#include "base/clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace kerf {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Clock, FormatsMicroseconds) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatUtc(1'794'713'371 * kSecond + 123'456'789), "2026-11-15T03:29:31.123456Z");
  EXPECT_EQ(FormatUtc(-1), "1969-12-31T23:59:59.999999Z");
}

TEST(Clock, ParsesWhatItFormats) {
  for (const int64_t micros : {int64_t{0}, int64_t{1'794'713'371'123'456},
                               int64_t{951'782'400'000'001}, int64_t{-62'135'596'800} / 1000}) {
    EXPECT_EQ(ParseUtc(FormatUtc(micros * 1000)), micros * 1000);
  }
}

TEST(Clock, ParsesShorterForms) {
  const int64_t midnight = *ParseUtc("2026-11-15T00:00:00Z");
  EXPECT_EQ(ParseUtc("2026-11-15"), midnight);
  EXPECT_EQ(ParseUtc("2026-11-15 00:00:00"), midnight);
  EXPECT_EQ(ParseUtc("2026-11-15T00:00:00.5Z"), midnight + kSecond / 2);
  EXPECT_EQ(ParseUtc("2026-11-15T00:00:00.000000001Z"), midnight + 1);
  EXPECT_EQ(ParseUtc("2024-02-29"), *ParseUtc("2024-03-01") - 86400 * kSecond);
}

TEST(Clock, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "2026",
                           "2026-1-1",
                           "2026-00-10",
                           "2026--1-10",
                           "2026-13-01",
                           "2026-01-00",
                           "2026-01-32",
                           "2026-02-31",
                           "2025-02-29",
                           "2026-04-31",
                           "2026-11-15T",
                           "2026-11-15T24:00:00",
                           "2026-11-15T00:60:00",
                           "2026-11-15T00:00:61",
                           "2026-11-15T00:00",
                           "2026-11-15T00:00:00+01:00",
                           "2026-11-15T00:00:00.Z",
                           "2026-11-15T00:00:00.0000000001Z",
                           "2026-11-15x",
                           "2026-11-15Z",
                           " 2026-11-15",
                           "2026-+1-15",
                           "-026-01-01"}) {
    EXPECT_EQ(ParseUtc(text), std::nullopt) << text;
  }
}

TEST(Clock, RefusesTimesThatDoNotFitNanoseconds) {
  EXPECT_EQ(ParseUtc("9999-12-31T23:59:59Z"), std::nullopt);
  EXPECT_EQ(ParseUtc("2263-01-01"), std::nullopt);
  EXPECT_EQ(ParseUtc("0001-01-01"), std::nullopt);
  EXPECT_NE(ParseUtc("2262-01-01"), std::nullopt);
}

TEST(Clock, SystemClockMovesForward) {
  const auto clock = MakeSystemClock();
  EXPECT_GT(clock->WallNanos(), *ParseUtc("2024-01-01"));
  const int64_t before = clock->MonotonicNanos();
  EXPECT_GE(clock->MonotonicNanos(), before);
}

TEST(Clock, FakeClockMovesOnlyWhenTold) {
  FakeClock clock(5);
  EXPECT_EQ(clock.WallNanos(), 5);
  clock.Advance(10);
  EXPECT_EQ(clock.WallNanos(), 15);
  EXPECT_EQ(clock.MonotonicNanos(), 15);
}

}  // namespace
}  // namespace kerf
