#include "device/runtime_dir.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/testing/temp_dir.h"
#include "device/testing/variables.h"

namespace kerf::device {
namespace {

using ::testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

void ExpectDenied(const Result<RuntimeDir>& dir, const std::string& why) {
  ASSERT_FALSE(dir.ok());
  EXPECT_EQ(dir.error().code, ErrorCode::kDenied);
  EXPECT_THAT(dir.error().message, HasSubstr(why));
}

TEST(RuntimeDir, OwnVariableComesFirst) {
  const TempDir temp;
  const auto dir = RuntimeDir::Open(
      Variables({{"KERF_DEVICE_DIR", temp.path() + "/a/b/"}, {"XDG_RUNTIME_DIR", temp.path()}}));
  ASSERT_TRUE(dir.ok()) << dir.error().message;
  EXPECT_EQ(dir->path(), temp.path() + "/a/b");
  EXPECT_EQ(ModeOf(dir->path()), 0700U);
}

TEST(RuntimeDir, ThenTheSession) {
  const TempDir temp;
  const auto dir = RuntimeDir::Open(Variables({{"XDG_RUNTIME_DIR", temp.path()}}));
  ASSERT_TRUE(dir.ok()) << dir.error().message;
  EXPECT_EQ(dir->path(), temp.path() + "/kerf/devices");
  EXPECT_EQ(ModeOf(temp.path() + "/kerf"), 0700U);
}

TEST(RuntimeDir, ThenTmp) {
  const TempDir temp;
  for (const std::string& session : {std::string(), std::string("relative"), temp.path() + "/no"}) {
    const auto dir = RuntimeDir::Open(Variables({{"XDG_RUNTIME_DIR", session}}));
    ASSERT_TRUE(dir.ok()) << dir.error().message;
    EXPECT_EQ(dir->path(), "/tmp/kerf-" + std::to_string(::geteuid()) + "/devices");
  }
}

TEST(RuntimeDir, RefusesARelativePath) {
  EXPECT_EQ(RuntimeDir::OpenPath("devices").error().code, ErrorCode::kInvalidInput);
}

TEST(RuntimeDir, RefusesAFolderThatIsOpenToOthers) {
  const TempDir temp;
  std::filesystem::create_directory(temp.path() + "/d");
  ASSERT_EQ(::chmod((temp.path() + "/d").c_str(), 0770), 0);
  ExpectDenied(RuntimeDir::OpenPath(temp.path() + "/d"), "mode 0770); run: chmod 700");
}

TEST(RuntimeDir, RefusesALink) {
  const TempDir temp;
  std::filesystem::create_directory(temp.path() + "/real");
  ASSERT_EQ(::chmod((temp.path() + "/real").c_str(), 0700), 0);
  std::filesystem::create_directory_symlink(temp.path() + "/real", temp.path() + "/d");
  ExpectDenied(RuntimeDir::OpenPath(temp.path() + "/d"), "is a link or no folder");
  // Also one level up, where /tmp/kerf-UID would be.
  std::filesystem::create_directory_symlink(temp.path() + "/real", temp.path() + "/kerf");
  ExpectDenied(RuntimeDir::Open(Variables({{"XDG_RUNTIME_DIR", temp.path()}})),
               "is a link or no folder");
}

TEST(RuntimeDir, RefusesAFileInItsPlace) {
  const TempDir temp;
  temp.Write("d", "");
  ExpectDenied(RuntimeDir::OpenPath(temp.path() + "/d"), "is a link or no folder");
}

TEST(RuntimeDir, RefusesAParentInWhichOthersCouldSwapIt) {
  const TempDir temp;
  std::filesystem::create_directory(temp.path() + "/open");
  ASSERT_EQ(::chmod((temp.path() + "/open").c_str(), 0777), 0);
  ExpectDenied(RuntimeDir::OpenPath(temp.path() + "/open/d"), "others could replace");
  ASSERT_EQ(::chmod((temp.path() + "/open").c_str(), 01777), 0);
  EXPECT_TRUE(RuntimeDir::OpenPath(temp.path() + "/open/d").ok());
}

TEST(RuntimeDir, RefusesAFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder of another user";
  const TempDir temp;
  std::filesystem::create_directory(temp.path() + "/d");
  ASSERT_EQ(::chmod((temp.path() + "/d").c_str(), 0700), 0);
  ASSERT_EQ(::chown((temp.path() + "/d").c_str(), 65534, 65534), 0);
  ExpectDenied(RuntimeDir::OpenPath(temp.path() + "/d"), "belongs to user 65534");
}

TEST(RuntimeDir, FollowsNoLinkAndOpensNoPipe) {
  const TempDir temp;
  const auto dir = RuntimeDir::OpenPath(temp.path() + "/d");
  ASSERT_TRUE(dir.ok());
  temp.Write("outside", "secret");
  std::filesystem::create_symlink(temp.path() + "/outside", temp.path() + "/d/link");
  ASSERT_EQ(::mkfifo((temp.path() + "/d/pipe").c_str(), 0600), 0);
  EXPECT_EQ(dir->Read("link").error().code, ErrorCode::kDenied);
  EXPECT_EQ(dir->Read("pipe").error().code, ErrorCode::kDenied);
  EXPECT_EQ(dir->Read("nothing").error().code, ErrorCode::kNotFound);
}

TEST(RuntimeDir, ReplacesInOneStep) {
  const TempDir temp;
  const auto dir = RuntimeDir::OpenPath(temp.path() + "/d");
  ASSERT_TRUE(dir.ok());
  temp.Write("outside", "precious");
  std::filesystem::create_symlink(temp.path() + "/outside", temp.path() + "/d/x");
  ASSERT_TRUE(dir->Replace("x", "new").ok());
  EXPECT_EQ(*dir->Read("x"), "new");
  EXPECT_EQ(std::filesystem::file_size(temp.path() + "/outside"), 8U);
  EXPECT_EQ(dir->List(".")->size(), 1U);
}

TEST(RuntimeDir, KnowsAFileThatWasReplaced) {
  const TempDir temp;
  const auto dir = RuntimeDir::OpenPath(temp.path() + "/d");
  ASSERT_TRUE(dir->Replace("x", "1").ok());
  const Result<Fd> fd = dir->OpenFile("x", O_RDONLY);
  ASSERT_TRUE(fd.ok());
  EXPECT_TRUE(dir->IsStillAt(*fd, "x"));
  ASSERT_TRUE(dir->Replace("x", "2").ok());
  EXPECT_FALSE(dir->IsStillAt(*fd, "x"));
}

}  // namespace
}  // namespace kerf::device
