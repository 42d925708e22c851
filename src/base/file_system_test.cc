#include "base/file_system.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace kerf {
namespace {

using ::testing::HasSubstr;

class PosixFileSystemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "kerf-fs-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  [[nodiscard]] std::string In(const std::string& name) const { return dir_ + "/" + name; }

  void MustWrite(const std::string& name, const std::string& bytes) {
    auto file = fs_->OpenNew(In(name));
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_TRUE((*file)->Write(bytes).ok());
  }

  const std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  std::string dir_;
};

TEST_F(PosixFileSystemTest, ReadsWhatWasWritten) {
  MustWrite("f", "hello");
  EXPECT_EQ(*fs_->ReadFile(In("f")), "hello");
  EXPECT_EQ(*fs_->ReadRange(In("f"), 1, 3), "ell");
  EXPECT_EQ(*fs_->ReadRange(In("f"), 4, 1'000'000'000'000), "o");
  EXPECT_EQ(*fs_->ReadRange(In("f"), 5, 1), "");
  EXPECT_EQ(fs_->ReadFile(In("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fs_->ReadFile(dir_).error().code, ErrorCode::kInvalidInput);
}

TEST_F(PosixFileSystemTest, ReadingAFifoFailsAtOnce) {
  ASSERT_EQ(::mkfifo(In("fifo").c_str(), 0600), 0);
  ::alarm(10);  // a blocked open() would hang the test
  EXPECT_EQ(fs_->ReadFile(In("fifo")).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(fs_->ReadRange(In("fifo"), 0, 1).error().code, ErrorCode::kInvalidInput);
  ::alarm(0);
}

TEST_F(PosixFileSystemTest, AppendsTruncatesAndSyncs) {
  MustWrite("f", "one");
  auto file = *fs_->OpenAppend(In("f"));
  ASSERT_TRUE(file->Write("two").ok());
  file->StartSync();
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_EQ(*file->ReadAt(2, 3), "etw");
  EXPECT_EQ(*file->ReadAt(5, 100), "o");
  EXPECT_EQ(*file->Size(), 6U);
  ASSERT_TRUE(file->Truncate(4).ok());
  ASSERT_TRUE(file->Write("!").ok());
  EXPECT_EQ(*fs_->ReadFile(In("f")), "onet!");
  EXPECT_TRUE(fs_->SyncDir(dir_).ok());
  EXPECT_TRUE(fs_->OpenSyncPoint(dir_).value()->Sync().ok());
}

TEST_F(PosixFileSystemTest, OpenNewRefusesWhatIsThere) {
  MustWrite("f", "x");
  ASSERT_EQ(::symlink(In("target").c_str(), In("dangling").c_str()), 0);
  ASSERT_EQ(::symlink(In("f").c_str(), In("link").c_str()), 0);
  EXPECT_FALSE(fs_->OpenNew(In("f")).ok());
  EXPECT_FALSE(fs_->OpenNew(In("link")).ok());
  EXPECT_FALSE(fs_->OpenNew(In("dangling")).ok());
  EXPECT_FALSE(fs_->Stat(In("target"))->has_value());
  EXPECT_EQ(*fs_->ReadFile(In("f")), "x");
}

TEST_F(PosixFileSystemTest, WritesDoNotFollowLinks) {
  MustWrite("f", "x");
  ASSERT_EQ(::symlink(In("f").c_str(), In("link").c_str()), 0);
  EXPECT_EQ(fs_->OpenAppend(In("link")).error().code, ErrorCode::kDenied);
  EXPECT_EQ(fs_->TryLock(In("link"), "me").error().code, ErrorCode::kDenied);
  EXPECT_EQ(*fs_->ReadFile(In("f")), "x");
}

TEST_F(PosixFileSystemTest, CreateDirAcceptsARealFolderOnly) {
  EXPECT_TRUE(fs_->CreateDir(In("d")).ok());
  EXPECT_TRUE(fs_->CreateDir(In("d")).ok());
  MustWrite("f", "");
  EXPECT_EQ(fs_->CreateDir(In("f")).error().code, ErrorCode::kInvalidInput);
  ASSERT_EQ(::symlink(In("d").c_str(), In("link").c_str()), 0);
  const Status refused = fs_->CreateDir(In("link"));
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_THAT(refused.error().message, HasSubstr("symbolic link"));
  EXPECT_EQ(fs_->CreateDir(In("no/d")).error().code, ErrorCode::kNotFound);
}

TEST_F(PosixFileSystemTest, CreateDirsMakesTheWholeWay) {
  EXPECT_TRUE(fs_->CreateDirs(In("a/b//c/")).ok());
  EXPECT_EQ((*fs_->Stat(In("a/b/c")))->kind, FileKind::kDirectory);
  MustWrite("f", "");
  EXPECT_FALSE(fs_->CreateDirs(In("f/d")).ok());
  EXPECT_EQ(fs_->CreateDirs(In("f")).error().code, ErrorCode::kInvalidInput);
}

TEST_F(PosixFileSystemTest, ListsKinds) {
  MustWrite("f", "");
  ASSERT_TRUE(fs_->CreateDir(In("d")).ok());
  ASSERT_EQ(::symlink("f", In("l").c_str()), 0);
  ASSERT_EQ(::mkfifo(In("p").c_str(), 0600), 0);
  std::set<std::pair<std::string, FileKind>> got;
  for (const DirEntry& entry : *fs_->List(dir_)) got.emplace(entry.name, entry.kind);
  const std::set<std::pair<std::string, FileKind>> expected = {{"f", FileKind::kFile},
                                                               {"d", FileKind::kDirectory},
                                                               {"l", FileKind::kSymlink},
                                                               {"p", FileKind::kOther}};
  EXPECT_EQ(got, expected);
  EXPECT_EQ(fs_->List(In("none")).error().code, ErrorCode::kNotFound);
}

TEST_F(PosixFileSystemTest, StatDoesNotFollowLinks) {
  ASSERT_EQ(::symlink("nowhere", In("l").c_str()), 0);
  EXPECT_EQ((*fs_->Stat(In("l")))->kind, FileKind::kSymlink);
  EXPECT_FALSE(fs_->Stat(In("none"))->has_value());
  EXPECT_FALSE(fs_->Stat(In("none/below"))->has_value());
  MustWrite("f", "123");
  const FileInfo info = **fs_->Stat(In("f"));
  EXPECT_EQ(info.size, 3U);
  EXPECT_GT(info.mtime_ns, 1'600'000'000'000'000'000);
}

TEST_F(PosixFileSystemTest, NoticesThatAnOpenFileWasReplaced) {
  auto file = *fs_->OpenNew(In("f"));
  EXPECT_TRUE(file->IsStillAt(In("f")));
  ASSERT_TRUE(fs_->Rename(In("f"), In("g")).ok());
  EXPECT_FALSE(file->IsStillAt(In("f")));
  EXPECT_TRUE(file->IsStillAt(In("g")));
  MustWrite("f", "other");
  EXPECT_FALSE(file->IsStillAt(In("f")));
  EXPECT_TRUE(fs_->Remove(In("g")).ok());
  EXPECT_FALSE(file->IsStillAt(In("g")));
}

TEST_F(PosixFileSystemTest, WriteErrorsNameTheFile) {
  auto full = fs_->OpenAppend("/dev/full");
  if (!full.ok()) GTEST_SKIP() << "/dev/full is not there: " << full.error().message;
  const Status status = (*full)->Write("x");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("/dev/full"));
}

TEST_F(PosixFileSystemTest, WriteFileAtomicReplacesAndLeavesNothingElse) {
  ASSERT_TRUE(WriteFileAtomic(*fs_, In("f"), "first").ok());
  ASSERT_TRUE(WriteFileAtomic(*fs_, In("f"), "second").ok());
  EXPECT_EQ(*fs_->ReadFile(In("f")), "second");
  EXPECT_EQ(fs_->List(dir_)->size(), 1U);
}

TEST_F(PosixFileSystemTest, WriteFileAtomicReplacesALinkNotItsTarget) {
  MustWrite("target", "untouched");
  ASSERT_EQ(::symlink("target", In("f").c_str()), 0);
  ASSERT_EQ(::symlink("target", In("f.tmp").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(*fs_, In("f"), "new").ok());
  EXPECT_EQ(*fs_->ReadFile(In("target")), "untouched");
  EXPECT_EQ(*fs_->ReadFile(In("f")), "new");
}

TEST_F(PosixFileSystemTest, LockExcludesOtherHandlesAndTellsTheOwner) {
  auto lock = fs_->TryLock(In("lock"), "pid 7 on host");
  ASSERT_TRUE(lock.ok());
  const auto refused = fs_->TryLock(In("lock"), "me");
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message, "pid 7 on host");
  lock->reset();
  EXPECT_TRUE(fs_->TryLock(In("lock"), "me").ok());
}

TEST_F(PosixFileSystemTest, LockIsFreedWhenItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    auto lock = MakePosixFileSystem()->TryLock(In("lock"), "the child");
    (void)!::write(ready[1], lock.ok() ? "y" : "n", 1);
    while (true) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  const auto refused = fs_->TryLock(In("lock"), "me");
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.ok() ? "" : refused.error().message, "the child");
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_TRUE(fs_->TryLock(In("lock"), "me").ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixFileSystemTest, FileLockMakesAnotherProcessWait) {
  auto mine = *fs_->OpenAppend(In("f"));
  ASSERT_TRUE(mine->Lock().ok());
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    auto file = *MakePosixFileSystem()->OpenAppend(In("f"));
    const bool ok = file->Lock().ok() && file->Write("2").ok();
    ::_exit(ok ? 0 : 1);
  }
  ::usleep(50'000);
  ASSERT_TRUE(mine->Write("1").ok());
  mine->Unlock();
  int status = -1;
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*fs_->ReadFile(In("f")), "12");
}

TEST(Paths, JoinAndSplit) {
  EXPECT_EQ(JoinPath("a/b", "c"), "a/b/c");
  EXPECT_EQ(JoinPath("a/", "c"), "a/c");
  EXPECT_EQ(JoinPath("", "c"), "c");
  EXPECT_EQ(JoinPath("/", "c"), "/c");
  EXPECT_EQ(ParentPath("a/b/c"), "a/b");
  EXPECT_EQ(ParentPath("a/b/"), "a");
  EXPECT_EQ(ParentPath("a"), ".");
  EXPECT_EQ(ParentPath("/a"), "/");
  EXPECT_EQ(ParentPath("/"), "/");
  EXPECT_EQ(BaseName("a/b/c"), "c");
  EXPECT_EQ(BaseName("a/b/"), "b");
  EXPECT_EQ(BaseName("a"), "a");
}

TEST(Paths, ExpandHome) {
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(ExpandHome("~"), "/home/someone");
  EXPECT_EQ(ExpandHome("~/logs"), "/home/someone/logs");
  EXPECT_EQ(ExpandHome("~other/logs"), "~other/logs");
  EXPECT_EQ(ExpandHome("a/~"), "a/~");
  EXPECT_EQ(ExpandHome(""), "");
  ::unsetenv("HOME");
  EXPECT_EQ(ExpandHome("~/logs"), "~/logs");
  if (home != nullptr) ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace kerf
