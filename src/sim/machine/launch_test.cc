#include "sim/machine/launch.h"

#include <intrinsic.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "sim/machine/instruction_testing.h"

// A core that fails is left where it stands: what is on its stack is not destroyed (fiber.h), and
// the leak check of a sanitized build must not count that.
// NOLINTBEGIN(bugprone-reserved-identifier): the name the sanitizer looks for
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:kerf::sim::Fiber::Enter"; }
// NOLINTEND(bugprone-reserved-identifier)

namespace kerf::sim {
namespace {

using namespace pto;
using kerf_log::CoreKind;

Finding OnlyFinding(const std::function<void()>& body) {
  GlobalMemory global;
  const LaunchResult result = RunBody(global, body);
  EXPECT_EQ(result.findings.size(), 1U) << Text(result.findings);
  return result.findings.empty() ? Finding{} : result.findings[0];
}

TEST(Launch, FindsATileBehindTheEndOfItsMemory) {
  const Finding finding = OnlyFinding([] {
    Tile<TileType::Vec, float, 64, 64> tile;
    TASSIGN(tile, 192 * 1024 - 32);
  });
  EXPECT_EQ(finding.kind, FindingKind::kOutOfRange);
  EXPECT_TRUE(finding.fatal);
  EXPECT_NE(finding.file.find("launch_test.cc"), std::string::npos);
  EXPECT_NE(finding.line, 0U);
}

TEST(Launch, FindsAMisalignedTile) {
  EXPECT_EQ(OnlyFinding([] {
              Tile<TileType::Vec, float, 8, 8> tile;
              TASSIGN(tile, 16);
            }).kind,
            FindingKind::kMisaligned);
}

TEST(Launch, FindsATileWithoutAddress) {
  EXPECT_EQ(OnlyFinding([] {
              Tile<TileType::Vec, float, 8, 8> tile;
              TEXPANDS(tile, 1.0F);
            }).kind,
            FindingKind::kUnbound);
}

TEST(Launch, FindsReadsOfWhatNobodyWrote) {
  const Finding finding = OnlyFinding([] {
    Tile<TileType::Vec, float, 8, 8> whole;
    Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, 8, 7> part;
    TASSIGN(whole, 0x0);
    TASSIGN(part, 0x0);
    TEXPANDS(part, 1.0F);
    TADDS(whole, whole, 1.0F);  // column 7 was never written
  });
  EXPECT_EQ(finding.kind, FindingKind::kUnwrittenRead);
  EXPECT_FALSE(finding.fatal);
  EXPECT_NE(finding.text.find("UB+28"), std::string::npos) << finding.text;
}

TEST(Launch, FindsGlobalMemoryThatBelongsToNobody) {
  std::vector<float> data(64);
  GlobalMemory global;
  global.AddRegion("x", data.data(), 63 * 4);
  const LaunchResult result = RunBody(global, [&] {
    GlobalTensor<float, Shape<1, 1, 1, 8, 8>, Stride<1, 1, 1, 8, 1>> from(data.data());
    Tile<TileType::Vec, float, 8, 8> tile;
    TASSIGN(tile, 0x0);
    TLOAD(tile, from);
  });
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kGlobalRange);
  EXPECT_EQ(result.finished, 0U);
}

TEST(Launch, CountsWhatHappensAgainAtTheSameLine) {
  EXPECT_EQ(OnlyFinding([] {
              Tile<TileType::Vec, float, 8, 8> a, d;
              TASSIGN(a, 0x0);
              TASSIGN(d, 0x100);
              for (int i = 0; i < 5; ++i) TADDS(d, a, 1.0F);
            }).count,
            5U);
}

// --- several cores ---

constexpr uint64_t Message(int mode, int id) { return 1 | mode << 4 | id << 8; }

LaunchResult RunCluster(const std::function<void()>& cube,
                        const std::function<void(int lane)>& vector,
                        kerf_log::LogFile* log = nullptr) {
  static GlobalMemory global;
  kerf_pto_bind(&test_core);
  LaunchConfig config;
  config.log = log;
  Launch launch(config, global, &test_core);
  launch.AddCore({CoreKind::kAic, 0, 0, cube, nullptr, nullptr});
  for (uint8_t lane = 0; lane < 2; ++lane) {
    launch.AddCore({CoreKind::kAiv, 0, lane, [&vector, lane] { vector(lane); }, nullptr, nullptr});
  }
  return launch.Run();
}

TEST(Cluster, CubeWaitsForBothVectorCores) {
  std::string order;
  const LaunchResult result = RunCluster(
      [&] {
        wait_flag_dev(3);
        order += "cube ";
        ffts_cross_core_sync(PIPE_FIX, Message(2, 4));
      },
      [&](int lane) {
        order += "lane" + std::to_string(lane) + " ";
        ffts_cross_core_sync(PIPE_MTE3, Message(2, 3));
        wait_flag_dev(4);
        order += "end" + std::to_string(lane) + " ";
      });
  EXPECT_EQ(result.finished, 3U) << Text(result.findings);
  EXPECT_EQ(order, "lane0 lane1 cube end0 end1 ");
}

TEST(Cluster, ReportsADeadlockWithEverybodysPlace) {
  const LaunchResult result = RunCluster([] { wait_flag_dev(1); }, [](int) { wait_flag_dev(2); });
  EXPECT_EQ(result.finished, 0U);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::kDeadlock);
  EXPECT_NE(result.findings[0].text.find("signal 1 of aiv0 and aiv1"), std::string::npos)
      << result.findings[0].text;
}

TEST(Cluster, FindsACounterThatOverflows) {
  const LaunchResult result = RunCluster(
      [] {
        for (int i = 0; i < 16; ++i) ffts_cross_core_sync(PIPE_FIX, Message(2, 1));
      },
      [](int) {});
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::kFlag);
}

TEST(Cluster, VectorCoresMeet) {
  std::string order;
  const LaunchResult result = RunCluster([] {},
                                         [&](int lane) {
                                           order += "a" + std::to_string(lane);
                                           ffts_cross_core_sync(PIPE_MTE3, Message(1, 2));
                                           wait_flag_dev(2);
                                           order += "b" + std::to_string(lane);
                                         });
  EXPECT_EQ(result.finished, 3U) << Text(result.findings);
  EXPECT_EQ(order, "a0a1b1b0");
}

TEST(Cluster, EverybodyMeetsAtSyncall) {
  std::string order;
  const LaunchResult result = RunCluster(
      [&] {
        order += "c";
        SYNCALL<SyncAllMode::Soft, SyncCoreType::Mix>();
        order += "C";
      },
      [&](int) {
        order += "v";
        SYNCALL<SyncAllMode::Soft, SyncCoreType::Mix>();
        order += "V";
      });
  EXPECT_EQ(result.finished, 3U) << Text(result.findings);
  EXPECT_EQ(order, "cvvVCV");
}

std::string LogOf(const std::string& path) {
  {
    kerf_log::LogFile log;
    EXPECT_TRUE(log.Open(path.c_str()));
    RunCluster(
        [] {
          for (int i = 0; i < 20; ++i) {
            wait_flag_dev(3);
            ffts_cross_core_sync(PIPE_FIX, Message(2, 4));
          }
        },
        [](int) {
          Tile<TileType::Vec, float, 8, 8> a;
          TASSIGN(a, 0x0);
          for (int i = 0; i < 20; ++i) {
            TEXPANDS(a, 1.0F);
            ffts_cross_core_sync(PIPE_MTE3, Message(2, 3));
            wait_flag_dev(4);
          }
        },
        &log);
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  ::unlink(path.c_str());
  return bytes.str();
}

TEST(Cluster, IsTheSameInEveryRun) {
  const std::string path = ::testing::TempDir() + "/kerf_launch_test_" + std::to_string(::getpid());
  const std::string first = LogOf(path);
  EXPECT_GT(first.size(), 1000U);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(LogOf(path), first);
}

}  // namespace
}  // namespace kerf::sim
