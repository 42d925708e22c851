#include "loop/verify/cache_sweep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "loop/verify/scratch.h"

namespace kerf::verify {
namespace {

void SetAge(const std::string& path, time_t seconds) {
  const timespec then{std::time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(CacheSweep, RemovesTheLeastRecentlyUsedBuildsFirst) {
  const Scratch cache = *Scratch::Make(testing::TempDir() + "kerf_sweep");
  const std::string builds = cache.path() + "/builds/";
  std::filesystem::create_directories(builds);
  for (const char* name : {"old.so", "middle.so", "new.so"})
    std::ofstream(builds + name) << std::string(1000, 'x');
  SetAge(builds + "old.so", 300);
  SetAge(builds + "middle.so", 200);
  SetAge(builds + "new.so", 100);
  SweepCache(cache.path(), 2500);
  EXPECT_FALSE(std::filesystem::exists(builds + "old.so"));
  EXPECT_TRUE(std::filesystem::exists(builds + "middle.so"));
  TouchFile(builds + "middle.so");
  SweepCache(cache.path(), 1500);
  EXPECT_TRUE(std::filesystem::exists(builds + "middle.so"));
  EXPECT_FALSE(std::filesystem::exists(builds + "new.so"));
}

TEST(CacheSweep, RemovesFoldersOfRunsThatNeverTidiedUp) {
  const Scratch cache = *Scratch::Make(testing::TempDir() + "kerf_sweep");
  const std::string scratch = cache.path() + "/scratch/";
  std::filesystem::create_directories(scratch + "run-old/inner");
  std::filesystem::create_directories(scratch + "run-new");
  SetAge(scratch + "run-old", 3 * 24 * 60 * 60);
  SweepCache(cache.path(), 1 << 20);
  EXPECT_FALSE(std::filesystem::exists(scratch + "run-old"));
  EXPECT_TRUE(std::filesystem::exists(scratch + "run-new"));
}

}  // namespace
}  // namespace kerf::verify
