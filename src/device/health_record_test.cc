#include "device/health_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing/temp_dir.h"

namespace kerf::device {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;
const DeviceId kDevice{Backend::kCuda, 3};

class HealthRecordTest : public ::testing::Test {
 protected:
  std::optional<HealthRecord> Read() {
    const Result<std::optional<HealthRecord>> record = ReadAside(*runtime_, clock_, kDevice);
    EXPECT_TRUE(record.ok()) << record.error().message;
    return *record;
  }

  TempDir dir_;
  Result<RuntimeDir> runtime_ = RuntimeDir::OpenPath(dir_.path() + "/d");
  FakeClock clock_{1'700'000'000 * kSecond};
};

TEST_F(HealthRecordTest, KeepsReasonAndTime) {
  EXPECT_FALSE(Read().has_value());
  ASSERT_TRUE(SetAside(*runtime_, clock_, kDevice, "wrong sums \"twice\"").ok());
  ASSERT_TRUE(Read().has_value());
  EXPECT_EQ(Read()->reason, "wrong sums \"twice\"");
  EXPECT_EQ(Read()->time, FormatUtc(clock_.WallNanos()));
}

TEST_F(HealthRecordTest, ExpiresAtItsTime) {
  ASSERT_TRUE(SetAside(*runtime_, clock_, kDevice, "hot", std::chrono::seconds(60)).ok());
  clock_.Advance(59 * kSecond);
  EXPECT_TRUE(Read().has_value());
  clock_.Advance(kSecond);
  EXPECT_FALSE(Read().has_value());
}

TEST_F(HealthRecordTest, ResetRemovesItOnce) {
  ASSERT_TRUE(SetAside(*runtime_, clock_, kDevice, "hot").ok());
  EXPECT_TRUE(*ClearAside(*runtime_, kDevice));
  EXPECT_FALSE(Read().has_value());
  EXPECT_FALSE(*ClearAside(*runtime_, kDevice));
}

TEST_F(HealthRecordTest, ADamagedRecordKeepsTheDeviceAside) {
  for (const char* text :
       {"", "{", "{\"reason\":\"\",\"time\":\"2026-11-15\"}", R"({"reason":"x","time":"soon"})",
        R"({"reason":"x","time":"2026-11-15","expires":"never"})"}) {
    dir_.Write("d/cuda-3.aside", text);
    ASSERT_TRUE(Read().has_value()) << text;
    EXPECT_THAT(Read()->reason, HasSubstr("cuda-3.aside is damaged")) << text;
  }
}

TEST_F(HealthRecordTest, NeedsAReason) {
  EXPECT_FALSE(SetAside(*runtime_, clock_, kDevice, "").ok());
}

}  // namespace
}  // namespace kerf::device
