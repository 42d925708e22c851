#include "loop/task/reference_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace kerf::task {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
constexpr const char* kManifest =
    R"({"format": "kerf-reference", "version": 1, "task_sha256": "ab", "framework": "numpy",
 "cases": [{"seed": 0, "input_file": "case-0.in", "output_file": "case-0.out", "inputs": [], "parameters": [],
   "outputs": [{"name": "output0", "dtype": "uint8", "shape": [1000], "offset": 0}],
   "oracle": [null], "lower": [null]}]})";

void Fill(const std::string& folder, size_t bytes = 1000) {
  std::ofstream(folder + "/case-0.in") << "";
  std::ofstream(folder + "/case-0.out") << std::string(bytes, 'x');
  std::ofstream(folder + "/manifest.json") << kManifest;
}

class ReferenceCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kerf-references-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  ReferenceCache Open(uint64_t limit = 1 << 30) {
    auto cache = ReferenceCache::Open(*fs_, root_, limit);
    EXPECT_TRUE(cache.ok());
    return *std::move(cache);
  }
  static std::string Key(int n) { return "00000000" + std::to_string(n); }
  Result<Reference> Get(ReferenceCache& cache, int n, size_t bytes = 1000) {
    return cache.Get(
        Key(n),
        [&](const std::string& folder) -> Result<std::string> {
          Fill(folder, bytes);
          return folder;
        },
        kPatience);
  }
  [[nodiscard]] bool Has(int n) const {
    return std::filesystem::exists(root_ + "/references/" + Key(n) + "/manifest.json");
  }
  [[nodiscard]] std::string Path(int n) const { return root_ + "/references/" + Key(n); }

  const std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  std::string root_;
};

TEST_F(ReferenceCacheTest, BuildsOnce) {
  ReferenceCache cache = Open();
  ASSERT_TRUE(Get(cache, 1).ok());
  ASSERT_TRUE(Get(cache, 1).ok());
  ReferenceCache other = Open();
  const auto found = Get(other, 1);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->folder, Path(1));
  EXPECT_EQ(cache.builds(), 1);
  EXPECT_EQ(other.builds(), 0);
}

TEST_F(ReferenceCacheTest, BuildsADamagedEntryAgain) {
  {
    ReferenceCache cache = Open();
    ASSERT_TRUE(Get(cache, 1).ok());
  }
  std::filesystem::resize_file(Path(1) + "/case-0.out", 10);
  ReferenceCache cache = Open();
  ASSERT_TRUE(Get(cache, 1).ok());
  EXPECT_EQ(cache.builds(), 1);
  EXPECT_EQ(std::filesystem::file_size(Path(1) + "/case-0.out"), 1000);
  std::ofstream(Path(1) + "/manifest.json") << "{";
  ASSERT_TRUE(Get(cache, 1).ok());
  EXPECT_EQ(cache.builds(), 2);
}

TEST_F(ReferenceCacheTest, KeepsNothingOfABuildThatFailed) {
  ReferenceCache cache = Open();
  const auto failed = cache.Get(
      Key(1), [](const std::string&) -> Result<std::string> { return InvalidInput("it raises"); },
      kPatience);
  EXPECT_EQ(failed.error().message, "it raises");
  EXPECT_TRUE(std::filesystem::is_empty(root_ + "/references"));
  const auto half = cache.Get(
      Key(1), [](const std::string& folder) -> Result<std::string> { return folder; }, kPatience);
  EXPECT_EQ(half.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(root_ + "/references"));
}

TEST_F(ReferenceCacheTest, IgnoresWhatAKilledProcessLeft) {
  std::filesystem::create_directories(Path(1) + ".tmp/half/deep");
  std::filesystem::create_directories(Path(1));  // without a manifest
  ReferenceCache cache = Open();
  ASSERT_TRUE(Get(cache, 1).ok());
  EXPECT_FALSE(std::filesystem::exists(Path(1) + ".tmp"));
}

TEST_F(ReferenceCacheTest, RemovesTheLeastRecentlyUsed) {
  constexpr uint64_t kLimit = 300'000;  // MeasureTree() counts whole blocks
  for (const int n : {1, 2, 3}) {
    ReferenceCache cache = Open();
    ASSERT_TRUE(Get(cache, n, 100'000).ok());
    std::this_thread::sleep_for(5ms);
  }
  {
    ReferenceCache cache = Open(kLimit);
    ASSERT_TRUE(Get(cache, 1).ok());  // now used more recently than 2
    std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(Get(cache, 4, 100'000).ok());
  }
  EXPECT_TRUE(Has(1));
  EXPECT_FALSE(Has(2));
  EXPECT_FALSE(std::filesystem::exists(Path(2) + ".lock"));
  EXPECT_TRUE(Has(4));
}

TEST_F(ReferenceCacheTest, NeverRemovesWhatIsInUse) {
  ReferenceCache user = Open();
  ASSERT_TRUE(Get(user, 1, 100'000).ok());
  ASSERT_TRUE(Get(user, 2, 100'000).ok());
  ReferenceCache builder = Open(/*limit=*/1);
  ASSERT_TRUE(Get(builder, 3, 100'000).ok());
  EXPECT_TRUE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_TRUE(Has(3)) << "what was just made is in use as well";
}

TEST_F(ReferenceCacheTest, LetsOneOfManyProcessesBuild) {
  constexpr int kProcesses = 6;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      ReferenceCache cache = Open();
      const auto found = cache.Get(
          Key(1),
          [&](const std::string& folder) -> Result<std::string> {
            std::this_thread::sleep_for(50ms);
            std::ofstream(root_ + "/built." + std::to_string(::getpid())) << "";
            Fill(folder);
            return folder;
          },
          kPatience);
      ::_exit(found.ok() ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  int built = 0;
  for (const auto& file : std::filesystem::directory_iterator(root_)) {
    built += file.path().filename().string().rfind("built.", 0) == 0 ? 1 : 0;
  }
  EXPECT_EQ(built, 1);
}

TEST_F(ReferenceCacheTest, LosesNothingWhenManyEvict) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      int bad = 0;
      for (int round = 0; round < 30; ++round) {
        ReferenceCache cache = Open(/*limit=*/50'000);
        const auto found = Get(cache, (round * 7 + i) % 5, 20'000);
        // What was handed out is whole for as long as the cache object lives.
        if (!found.ok() || !ReadReference(*fs_, found->folder).ok()) ++bad;
      }
      ::_exit(bad == 0 ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(ReferenceCacheTest, GivesUpOnALockThatIsHeldForTooLong) {
  ReferenceCache user = Open();
  ASSERT_TRUE(Get(user, 1).ok());
  std::filesystem::remove(Path(1) + "/manifest.json");
  ReferenceCache other = Open();
  const auto found = other.Get(
      Key(1), [](const std::string& folder) -> Result<std::string> { return folder; }, 30ms);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace kerf::task
