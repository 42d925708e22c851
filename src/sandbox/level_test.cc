#include <gtest/gtest.h>

#include "sandbox/sandbox_testing.h"

namespace kerf::sandbox {
namespace {

SandboxLevel Everything() {
  SandboxLevel level;
  for (size_t i = 0; i < kLayerCount; ++i) level.Set(static_cast<Layer>(i), true, "");
  return level;
}

TEST(SandboxLevel, SummaryNamesWhatIsThere) {
  SandboxLevel level;
  EXPECT_EQ(level.Summary(), "none");
  level.Set(Layer::kRlimits, true, "");
  level.Set(Layer::kSeccomp, true, "");
  EXPECT_EQ(level.Summary(), "rlimit+seccomp");
  EXPECT_EQ(Everything().Summary(), "rlimit+ns+seccomp+landlock+cgroup");
}

TEST(SandboxMode, RequiredNamesTheMissingLayerAndWhy) {
  SandboxLevel available = Everything();
  available.Set(Layer::kNetworkNamespace, false, "Operation not permitted");
  const Result<SandboxLevel> level = ChooseLevel(Mode::kRequired, available);
  ASSERT_FALSE(level.ok());
  EXPECT_EQ(level.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(level.error().message.find("network_namespace: Operation not permitted"),
            std::string::npos)
      << level.error().message;
}

TEST(SandboxMode, RequiredDoesWithoutLandlockAndCgroups) {
  SandboxLevel available = Everything();
  available.Set(Layer::kLandlock, false, "");
  available.Set(Layer::kCgroupMemory, false, "");
  available.Set(Layer::kCgroupPids, false, "");
  EXPECT_TRUE(ChooseLevel(Mode::kRequired, available).ok());
}

TEST(SandboxMode, OffKeepsOnlyTheLimits) {
  const Result<SandboxLevel> level = ChooseLevel(Mode::kOff, Everything());
  ASSERT_TRUE(level.ok());
  EXPECT_EQ(level->Summary(), "rlimit");
  EXPECT_FALSE((*level)[Layer::kSeccomp].detail.empty());
}

TEST(SandboxProbe, GivesAReasonForEachMissingLayer) {
  const SandboxLevel& level = Probe();
  for (size_t i = 0; i < kLayerCount; ++i) {
    const auto layer = static_cast<Layer>(i);
    if (!level.has(layer)) {
      EXPECT_FALSE(level[layer].detail.empty()) << LayerName(layer);
    }
  }
  EXPECT_EQ(&Probe(), &level);
}

using SandboxModes = SandboxTest;

TEST_F(SandboxModes, OffRunsWithLimitsAndKillsTheTree) {
  mode_ = Mode::kOff;
  limits_.wall_time = std::chrono::milliseconds(200);
  Outcome outcome = RunCase("sleep_long");
  EXPECT_EQ(outcome.reason, Reason::kWallTime) << Describe(outcome);
  EXPECT_EQ(outcome.level.Summary(), "rlimit");
  limits_.wall_time = std::chrono::seconds(5);
  outcome = RunCommand({"/bin/sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo started"});
  EXPECT_EQ(outcome.stdout_text, "started\n") << Describe(outcome);
  EXPECT_LT(outcome.usage.wall, std::chrono::seconds(3));
}

TEST_F(SandboxModes, OutcomeRecordsTheLevel) {
  const Outcome outcome = RunCase("hello");
  EXPECT_TRUE(outcome.level.has_namespaces());
  EXPECT_TRUE(outcome.level.has(Layer::kSeccomp));
}

TEST(SandboxPolicy, RefusesWhatMakesNoSense) {
  const auto refused = [](const Policy& policy) { return !policy.Check().ok(); };
  EXPECT_FALSE(refused(Policy::ForSystemPrograms()));
  EXPECT_TRUE(refused(Policy().Read("usr")));
  EXPECT_TRUE(refused(Policy().Read("/usr", "/a/../b")));
  EXPECT_TRUE(refused(Policy().Read("/usr", "/proc")));
  EXPECT_TRUE(refused(Policy().Read("/usr", "/dev/x")));
  EXPECT_TRUE(refused(Policy().Read("/usr").Read("/usr")));
  EXPECT_TRUE(refused(Policy().Weaken(AllowDevice{"/etc/passwd"})));
  EXPECT_TRUE(refused(Policy().Weaken(AllowDevice{"/dev/../etc/passwd"})));
  EXPECT_TRUE(refused(Policy().Variable("A=B", "")));
  EXPECT_TRUE(refused(Policy().WorkFolder("relative")));
}

TEST(SandboxRun, RefusesProgramsWithoutAPath) {
  const Result<Outcome> outcome = Sandbox(Policy(), Limits(), Mode::kOff).Run({"sh"});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace kerf::sandbox
