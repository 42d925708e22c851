#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "device/probe.h"
#include "device/testing/temp_dir.h"
#include "device/testing/variables.h"

namespace kerf::device {
namespace {

using ::testing::HasSubstr;

// The three layouts, as public manuals and bug reports show them; the values are made up.
constexpr const char* k910B =
    R"(+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 95.0        40                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3400 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | Warning       | 90.0        41                0    / 0             |
| 0                         | 0000:C2:00.0  | 0           0    / 0          26000/ 65536         |
+===========================+===============+====================================================+
| 2     910B3               | Critical      | 90.0        99                0    / 0             |
| 0                         | 0000:81:00.0  | 0           0    / 0          3400 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 1       0                 | 4711          | python3                  | 22600                   |
+===========================+===============+====================================================+
)";

constexpr const char* k910_93 =
    R"(| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 2     Ascend910           | OK            | 170.0       36                0    / 0             |
| 0     4                   | 0000:9D:00.0  | 0           0    / 0          3400 / 65536         |
+------------------------------------------------------------------------------------------------+
| 2     Ascend910           | OK            | -           36                0    / 0             |
| 1     5                   | 0000:9F:00.0  | 0           0    / 0          3200 / 65536         |
)";

constexpr const char* k310P =
    R"(| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 4       310P3                 | OK              | NA           37                0     / 0             |
| 0       0                     | 0000:81:00.0    | 0            1800 / 21525                            |
+===============================+=================+======================================================+
| 5       310P3                 | OK              | NA           40                0     / 0             |
| 0       1                     | 0000:85:00.0    | 0            1800 / 21525                            |
)";

TEST(ParseNpuSmi, ReadsThe910B) {
  const std::vector<Device> devices = ParseNpuSmi(k910B);
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].id.ToString(), "ascend:0");
  EXPECT_EQ(devices[0].name, "Ascend 910B3");
  EXPECT_EQ(devices[0].arch, "ascend910b3");
  EXPECT_EQ(devices[0].memory_bytes, uint64_t{65536} << 20);
  EXPECT_EQ(devices[0].health.state, HealthState::kGood);
  EXPECT_EQ(devices[1].memory_bytes, uint64_t{65536} << 20);
  EXPECT_EQ(devices[1].health.state, HealthState::kDoubtful);
  EXPECT_EQ(devices[2].health.state, HealthState::kSetAside);
  EXPECT_EQ(devices[2].health.reason, "npu-smi says Critical");
}

TEST(ParseNpuSmi, ReadsPhysicalIdsOfThe910_93) {
  const std::vector<Device> devices = ParseNpuSmi(k910_93);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].id.number, 4);
  EXPECT_EQ(devices[1].id.number, 5);
  EXPECT_EQ(devices[1].index, 1);
  EXPECT_EQ(devices[1].arch, "ascend910");
}

TEST(ParseNpuSmi, ReadsDeviceIdsOfThe310P) {
  const std::vector<Device> devices = ParseNpuSmi(k310P);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].id.number, 1);
  EXPECT_EQ(devices[1].arch, "ascend310p3");
  EXPECT_EQ(devices[1].memory_bytes, uint64_t{21525} << 20);
}

TEST(ParseNpuSmi, MakesNothingOfOtherText) {
  for (const char* text : {"", "|", "||||", "| NPU | Process |", "dcmi module initialize failed.\n",
                           "| 0 910B3 | OK | x |", "| 0 910B3 | OK | x |\n| x | y | z |"}) {
    EXPECT_TRUE(ParseNpuSmi(text).empty()) << text;
  }
}

TEST(ParseNpuSmi, ListsNoDeviceTwice) {
  const std::string doubled = std::string(k310P) + k310P;
  EXPECT_EQ(ParseNpuSmi(doubled).size(), 2U);
}

TEST(ParseNpuSmi, SurvivesMutations) {
  std::mt19937 random(7);
  const std::string samples[] = {k910B, k910_93, k310P};
  for (int round = 0; round < 600; ++round) {
    std::string text = samples[random() % 3];
    for (int i = 0; i < 8; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 40);
          break;
        case 2:
          text.insert(at, std::string(random() % 20, "0123456789|/ \n"[random() % 14]));
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 200));
      }
      if (text.empty()) text = "|";
    }
    std::vector<DeviceId> ids;
    for (const Device& device : ParseNpuSmi(text)) {
      EXPECT_GE(device.id.number, 0);
      EXPECT_EQ(std::count(ids.begin(), ids.end(), device.id), 0) << text;
      ids.push_back(device.id);
    }
  }
}

class AscendProbeTest : public ::testing::Test {
 protected:
  ProbeResult Probe(const std::string& script) {
    dir_.Write("npu-smi", "#!/bin/sh\n" + script);
    ::chmod((dir_.path() + "/npu-smi").c_str(), 0755);
    return ProbeAscend(options_);
  }
  static std::string Print(const std::string& table) { return "cat <<'END'\n" + table + "END\n"; }

  TempDir dir_;
  ProbeOptions options_{.environment = Variables({}), .npu_smi = dir_.path() + "/npu-smi"};
};

TEST_F(AscendProbeTest, AsksTheTool) {
  EXPECT_EQ(Probe("test \"$1\" = info || exit 1\n" + Print(k910B)).devices.size(), 3U);
}

TEST_F(AscendProbeTest, HonoursTheVisibleDevices) {
  options_.environment = Variables({{"ASCEND_RT_VISIBLE_DEVICES", "1"}});
  const ProbeResult result = Probe(Print(k910_93));
  ASSERT_EQ(result.devices.size(), 1U);
  EXPECT_EQ(result.devices[0].id.number, 5);
  EXPECT_EQ(result.devices[0].index, 0);
}

TEST_F(AscendProbeTest, SaysWhyThereIsNone) {
  EXPECT_THAT(Probe("echo; echo 'dcmi module initialize failed. ret is -8005'; exit 1\n").why_none,
              HasSubstr("npu-smi failed: dcmi module initialize failed. ret is -8005"));
  EXPECT_THAT(Probe("exit 1\n").why_none, HasSubstr("npu-smi failed"));
  EXPECT_EQ(Probe("echo hello\n").why_none, "npu-smi lists no NPU that kerf recognises");
  options_.npu_smi = dir_.path() + "/nothing";
  EXPECT_THAT(Probe("").why_none, HasSubstr("the Ascend driver is not installed or not in PATH"));
}

TEST_F(AscendProbeTest, DoesNotWaitForAToolThatHangs) {
  options_.npu_smi_timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(Probe("exec sleep 600\n").why_none, "npu-smi did not answer within 50 ms");
}

}  // namespace
}  // namespace kerf::device
