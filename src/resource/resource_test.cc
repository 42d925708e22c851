#include "resource/resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/fake_file_system.h"

namespace kerf::resource {
namespace {

using ::testing::HasSubstr;

TEST(Files, HoldWhatTheRepositoryHolds) {
  const std::vector<File> headers = Files("include/kerf/kernel.h");
  ASSERT_EQ(headers.size(), 1);
  EXPECT_THAT(std::string(headers[0].bytes), HasSubstr("KERF_KERNEL(call)"));
  EXPECT_THAT(std::string(Files("python/kerf/reference_runner.py").at(0).bytes),
              HasSubstr("def main(argv)"));
}

TEST(Files, LeaveOutTestsAndCaches) {
  for (const File& file : Files()) {
    EXPECT_THAT(std::string(file.path), Not(HasSubstr("__pycache__")));
    EXPECT_FALSE(file.path.ends_with("_test.py") || file.path.ends_with("/testing.py"))
        << file.path;
  }
}

TEST(Files, AreEmptyForAnUnknownPrefix) { EXPECT_TRUE(Files("nothing/").empty()); }

TEST(Extract, WritesEveryFileOnce) {
  FakeFileSystem fs;
  const Result<std::string> folder = Extract(fs, "cache");
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  for (const File& file : Files()) {
    EXPECT_EQ(*fs.ReadFile(JoinPath(*folder, file.path)), file.bytes);
  }
  const int calls = fs.mutating_calls();
  EXPECT_EQ(*Extract(fs, "cache"), *folder);
  EXPECT_EQ(fs.mutating_calls(), calls) << "nothing is written a second time";
  EXPECT_EQ(fs.List("cache/resource")->size(), 1);
}

TEST(Extract, RepairsADamagedFolder) {
  FakeFileSystem fs;
  const std::string folder = *Extract(fs, "cache");
  const std::string path = JoinPath(folder, "python/kerf/reference_runner.py");
  const std::string whole = *fs.ReadFile(path);
  fs.CutFile(path, 10);
  EXPECT_EQ(*Extract(fs, "cache"), folder);
  EXPECT_EQ(*fs.ReadFile(path), whole);
  EXPECT_EQ(fs.List("cache/resource")->size(), 1);
}

TEST(Extract, LeavesNothingHalfDoneAfterAFailure) {
  for (int n = 1; n < 2000; ++n) {
    FakeFileSystem fs;
    fs.FailAfter(n, ENOSPC);
    const bool done = Extract(fs, "cache").ok();
    fs.ClearFaults();
    const Result<std::string> folder = Extract(fs, "cache");
    ASSERT_TRUE(folder.ok()) << n << ": " << folder.error().message;
    EXPECT_EQ(*fs.ReadFile(JoinPath(*folder, "include/kerf/kernel.h")),
              Files("include/kerf/kernel.h").at(0).bytes);
    if (done) return;
  }
  FAIL() << "it never succeeded";
}

TEST(Extract, IsReadableForEverybodyWhateverTheMask) {
  char name[] = "/tmp/kerf-resource-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const mode_t before = ::umask(077);
  const auto fs = MakePosixFileSystem();
  const Result<std::string> folder = Extract(*fs, name);
  ::umask(before);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  struct stat info {};
  ASSERT_EQ(::stat((*folder + "/python/kerf/values.py").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644U);
  ASSERT_EQ(::stat((*folder + "/python").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755U);
  std::filesystem::remove_all(name);
}

TEST(Extract, ServesManyAtOnce) {
  char name[] = "/tmp/kerf-resource-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto fs = MakePosixFileSystem();
      if (Extract(*fs, name).ok()) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace kerf::resource
