#include "base/fake_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

namespace kerf {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<File> MustOpenNew(FileSystem& fs, const std::string& path) {
  auto file = fs.OpenNew(path);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file.ok() ? std::move(*file) : nullptr;
}

void MustWrite(FileSystem& fs, const std::string& path, const std::string& bytes) {
  ASSERT_TRUE(MustOpenNew(fs, path)->Write(bytes).ok());
}

bool Exists(FileSystem& fs, const std::string& path) { return fs.Stat(path)->has_value(); }

TEST(FakeFileSystem, ReadsWhatWasWritten) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("/a/b").ok());
  MustWrite(fs, "/a/b/f", "hello");
  EXPECT_EQ(*fs.ReadFile("/a/b/f"), "hello");
  EXPECT_EQ(*fs.ReadFile("a//b/./f"), "hello");
  EXPECT_EQ(*fs.ReadRange("/a/b/f", 1, 3), "ell");
  EXPECT_EQ(*fs.ReadRange("/a/b/f", 4, 100), "o");
  EXPECT_EQ(*fs.ReadRange("/a/b/f", 9, 1), "");
  const auto info = *fs.Stat("/a/b/f");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->kind, FileKind::kFile);
  EXPECT_EQ(info->size, 5U);
  EXPECT_EQ(fs.List("/a")->at(0).name, "b");
  EXPECT_EQ(fs.List("/a")->at(0).kind, FileKind::kDirectory);
}

TEST(FakeFileSystem, AppendsAndReadsBack) {
  FakeFileSystem fs;
  MustWrite(fs, "f", "one");
  auto file = *fs.OpenAppend("f");
  ASSERT_TRUE(file->Write("two").ok());
  EXPECT_EQ(*file->ReadAt(2, 3), "etw");
  EXPECT_EQ(*file->Size(), 6U);
  ASSERT_TRUE(file->Truncate(4).ok());
  ASSERT_TRUE(file->Write("!").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "onet!");
}

TEST(FakeFileSystem, RefusesWhatTheRealOneRefuses) {
  FakeFileSystem fs;
  MustWrite(fs, "f", "x");
  fs.AddSymlink("link", "f");
  EXPECT_FALSE(fs.OpenNew("f").ok());
  EXPECT_FALSE(fs.OpenNew("link").ok());
  EXPECT_EQ(fs.OpenNew("no/f").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fs.OpenAppend("link").error().code, ErrorCode::kDenied);
  EXPECT_EQ(fs.TryLock("link", "me").error().code, ErrorCode::kDenied);
  EXPECT_EQ(fs.CreateDir("link").error().code, ErrorCode::kDenied);
  EXPECT_EQ(fs.CreateDir("f").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(fs.CreateDirs("f").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(fs.CreateDir("f/d").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fs.ReadFile("nothing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fs.Remove("nothing").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(fs.CreateDirs("d/e").ok());
  EXPECT_FALSE(fs.Remove("d").ok());
  EXPECT_FALSE(fs.Rename("f", "d").ok());
  EXPECT_FALSE(fs.ReadFile("d").ok());
  EXPECT_FALSE(fs.List("f").ok());
}

TEST(FakeFileSystem, CrashLosesUnsyncedBytes) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  ASSERT_TRUE(file->Write("durable").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(fs.SyncDir(".").ok());
  ASSERT_TRUE(file->Write(" and not").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "durable and not");
  fs.Crash();
  EXPECT_EQ(*fs.ReadFile("f"), "durable");
}

TEST(FakeFileSystem, CrashLosesANameWhoseFolderWasNotSynced) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  ASSERT_TRUE(file->Write("x").ok());
  ASSERT_TRUE(file->Sync().ok());
  fs.Crash();
  EXPECT_FALSE(Exists(fs, "f"));
}

TEST(FakeFileSystem, CrashEmptiesAFileWhoseNameAloneWasSynced) {
  FakeFileSystem fs;
  MustWrite(fs, "f", "x");
  ASSERT_TRUE(fs.SyncDir("/").ok());
  fs.Crash();
  EXPECT_EQ(*fs.ReadFile("f"), "");
}

TEST(FakeFileSystem, CrashUndoesRenameAndRemoveUntilTheFolderIsSynced) {
  FakeFileSystem fs;
  MustWrite(fs, "a", "a");
  MustWrite(fs, "b", "b");
  ASSERT_TRUE(fs.SyncAll("/").ok());
  ASSERT_TRUE(fs.Rename("a", "c").ok());
  ASSERT_TRUE(fs.Remove("b").ok());
  EXPECT_FALSE(Exists(fs, "a"));
  fs.Crash();
  EXPECT_EQ(*fs.ReadFile("a"), "a");
  EXPECT_EQ(*fs.ReadFile("b"), "b");
  EXPECT_FALSE(Exists(fs, "c"));
  ASSERT_TRUE(fs.Rename("a", "c").ok());
  ASSERT_TRUE(fs.Remove("b").ok());
  ASSERT_TRUE(fs.SyncDir(".").ok());
  fs.Crash();
  EXPECT_FALSE(Exists(fs, "a"));
  EXPECT_FALSE(Exists(fs, "b"));
  EXPECT_EQ(*fs.ReadFile("c"), "a");
}

TEST(FakeFileSystem, CreateDirIsDurableButSaysNothingAboutItsNeighbours) {
  FakeFileSystem fs;
  MustWrite(fs, "neighbour", "x");
  ASSERT_TRUE(fs.CreateDirs("a/b").ok());
  fs.Crash();
  EXPECT_TRUE(Exists(fs, "a/b"));
  EXPECT_FALSE(Exists(fs, "neighbour"));
}

TEST(FakeFileSystem, CrashInvalidatesOpenFilesAndLocks) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  ASSERT_TRUE(file->Sync().ok());
  auto lock = fs.TryLock("lock", "first");
  ASSERT_TRUE(lock.ok());
  ASSERT_TRUE(fs.SyncAll("/").ok());
  fs.Crash();
  EXPECT_EQ(file->Write("x").error().code, ErrorCode::kIo);
  EXPECT_EQ(file->Sync().error().code, ErrorCode::kIo);
  EXPECT_FALSE(file->Size().ok());
  EXPECT_FALSE(file->IsStillAt("f"));
  auto second = fs.TryLock("lock", "second");
  ASSERT_TRUE(second.ok());
  lock->reset();  // the dead holder must not free the lock of the living one
  EXPECT_EQ(fs.TryLock("lock", "third").error().message, "second");
}

TEST(FakeFileSystem, KillKeepsUnsyncedBytesAndFreesLocks) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  ASSERT_TRUE(file->Write("kept").ok());
  auto lock = fs.TryLock("lock", "first");
  fs.Kill();
  EXPECT_EQ(*fs.ReadFile("f"), "kept");
  EXPECT_FALSE(file->Write("x").ok());
  EXPECT_TRUE(fs.TryLock("lock", "second").ok());
}

TEST(FakeFileSystem, LocksExcludeAndTellTheOwner) {
  FakeFileSystem fs;
  auto lock = fs.TryLock("lock", "pid 7");
  ASSERT_TRUE(lock.ok());
  const auto refused = fs.TryLock("lock", "pid 8");
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message, "pid 7");
  lock->reset();
  EXPECT_EQ(*fs.ReadFile("lock"), "");
  EXPECT_TRUE(fs.TryLock("lock", "pid 8").ok());
}

TEST(FakeFileSystem, FileLockWaitsForItsHolder) {
  FakeFileSystem fs;
  auto first = *fs.OpenAppend("f");
  auto second = *fs.OpenAppend("f");
  ASSERT_TRUE(first->Lock().ok());
  std::thread waiter([&] {
    ASSERT_TRUE(second->Lock().ok());
    ASSERT_TRUE(second->Write("2").ok());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(first->Write("1").ok());
  first->Unlock();
  waiter.join();
  EXPECT_EQ(*fs.ReadFile("f"), "12");
}

TEST(FakeFileSystem, CutFileIsDurable) {
  FakeFileSystem fs;
  MustWrite(fs, "f", "123456");
  ASSERT_TRUE(fs.SyncDir(".").ok());
  fs.CutFile("f", 2);
  fs.Crash();
  EXPECT_EQ(*fs.ReadFile("f"), "12");
}

TEST(FakeFileSystem, FailsFromTheNthMutatingCallOn) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  fs.FailAfter(2, EROFS);
  EXPECT_TRUE(file->Write("a").ok());
  EXPECT_EQ(file->Write("b").error().code, ErrorCode::kDenied);
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_FALSE(fs.OpenNew("g").ok());
  EXPECT_FALSE(fs.Rename("f", "g").ok());
  EXPECT_FALSE(fs.CreateDir("d").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "a");
  fs.ClearFaults();
  EXPECT_TRUE(file->Write("c").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "ac");
}

TEST(FakeFileSystem, FullDiskTakesWhatFits) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  fs.FailWriteAfterBytes(5, ENOSPC);
  EXPECT_TRUE(file->Write("123").ok());
  const Status full = file->Write("456");
  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_THAT(full.error().message, HasSubstr("free some space"));
  EXPECT_FALSE(file->Write("7").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "12345");
  fs.ClearFaults();
  EXPECT_TRUE(file->Write("7").ok());
}

TEST(FakeFileSystem, NoticesThatAnOpenFileWasReplaced) {
  FakeFileSystem fs;
  auto file = MustOpenNew(fs, "f");
  EXPECT_TRUE(file->IsStillAt("f"));
  ASSERT_TRUE(fs.Remove("f").ok());
  EXPECT_FALSE(file->IsStillAt("f"));
  MustWrite(fs, "f", "other");
  EXPECT_FALSE(file->IsStillAt("f"));
  EXPECT_TRUE(file->Write("into the removed one").ok());
  EXPECT_EQ(*fs.ReadFile("f"), "other");
}

TEST(WriteFileAtomic, IsOldOrNewAtEveryCrashPoint) {
  int points = 0;
  for (bool done = false; !done; ++points) {
    FakeFileSystem fs;
    ASSERT_TRUE(WriteFileAtomic(fs, "f", "old").ok());
    fs.CrashAfter(points + 1);
    done = WriteFileAtomic(fs, "f", "new").ok();
    fs.Crash();
    const std::string content = *fs.ReadFile("f");
    EXPECT_TRUE(content == "old" || content == "new") << points << ": " << content;
    EXPECT_TRUE(!done || content == "new");
    // A temporary file left behind must not stand in the way.
    ASSERT_TRUE(WriteFileAtomic(fs, "f", "newer").ok());
    EXPECT_EQ(*fs.ReadFile("f"), "newer");
  }
  EXPECT_EQ(points,
            6);  // create, write, sync, rename, sync of the folder, and the run without a crash
}

TEST(WriteFileAtomic, KeepsTheOldContentWhenTheDiskIsFull) {
  FakeFileSystem fs;
  ASSERT_TRUE(WriteFileAtomic(fs, "f", "old").ok());
  fs.FailWriteAfterBytes(1, ENOSPC);
  EXPECT_EQ(WriteFileAtomic(fs, "f", "new").error().code, ErrorCode::kIo);
  EXPECT_EQ(*fs.ReadFile("f"), "old");
}

}  // namespace
}  // namespace kerf
