#include "device/owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "device/testing/temp_dir.h"

namespace kerf::device {
namespace {

Owner Sample() {
  return {.pid = 4711,
          .start = 123456,
          .host = "box",
          .purpose = "kerf verify \"relu\"",
          .since = "2026-11-15T03:29:31.000000Z",
          .wants = {{Backend::kCuda, 0}, {Backend::kAscend, 7}}};
}

TEST(Owner, ReadsWhatItWrites) {
  const std::optional<Owner> owner = DecodeOwner(EncodeOwner(Sample()));
  ASSERT_TRUE(owner.has_value());
  EXPECT_EQ(owner->pid, 4711);
  EXPECT_EQ(owner->start, 123456U);
  EXPECT_EQ(owner->wants, Sample().wants);
  EXPECT_EQ(owner->ToString(),
            "process 4711 on box (kerf verify \"relu\") since 2026-11-15T03:29:31.000000Z");
}

TEST(Owner, RefusesWhatIsNoOwner) {
  for (const char* text : {"", "{}", "[]", "4711", R"({"pid":0,"start":1})", R"({"pid":"1"})",
                           R"({"pid":1,"start":-1})", R"({"pid":1,"wants":["gpu:0"]})",
                           R"({"pid":1,"wants":0})", R"({"pid":1} x)"}) {
    EXPECT_FALSE(DecodeOwner(text).has_value()) << text;
  }
}

TEST(Owner, SurvivesMutations) {
  std::mt19937 random(1);
  const std::string text = EncodeOwner(Sample());
  for (int round = 0; round < 500; ++round) {
    std::string mutant = text;
    for (int i = 0; i < 3; ++i) mutant[random() % mutant.size()] = static_cast<char>(random());
    if (round % 3 == 0) mutant.resize(random() % mutant.size());
    const std::optional<Owner> owner = DecodeOwner(mutant);
    EXPECT_TRUE(!owner.has_value() || owner->pid > 0) << mutant;
  }
}

TEST(Owner, StartTimeIsTheTwentySecondField) {
  EXPECT_EQ(ParseStartTime("7 (a) b) c) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2"),
            98765U);
  EXPECT_FALSE(ParseStartTime("7 (sh) S 1 7 7").has_value());
  EXPECT_FALSE(ParseStartTime("").has_value());
  EXPECT_FALSE(
      ParseStartTime("7 (sh) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12x 1 2").has_value());
}

TEST(Owner, KnowsThisProcess) {
  FakeClock clock;
  const Owner owner = OwnOwner(clock, "test");
  EXPECT_EQ(owner.pid, ::getpid());
  EXPECT_GT(owner.start, 0U);
  EXPECT_TRUE(IsAlive(owner));
}

TEST(Owner, APidThatWasGivenAgainIsAnotherProcess) {
  FakeClock clock;
  Owner owner = OwnOwner(clock, "test");
  --owner.start;
  EXPECT_FALSE(IsAlive(owner));
  const TempDir proc;  // without any process
  EXPECT_FALSE(IsAlive(OwnOwner(clock, "test"), proc.path()));
}

TEST(Owner, AnotherHostCannotBeAsked) {
  FakeClock clock;
  Owner owner = OwnOwner(clock, "test");
  owner.host += "-other";
  owner.pid = 1 << 30;
  EXPECT_TRUE(IsAlive(owner));
}

TEST(DeviceId, ReadsWhatItWrites) {
  for (const Backend backend : kAllBackends) {
    const DeviceId id{backend, 12};
    const Result<DeviceId> parsed = DeviceId::Parse(id.ToString());
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, id);
  }
}

TEST(DeviceId, RefusesOtherForms) {
  for (const char* text : {"", ":", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "gpu:0", "0",
                           "cuda:99999999999", "cuda:+1"}) {
    EXPECT_FALSE(DeviceId::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace kerf::device
