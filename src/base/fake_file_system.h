// An in-memory disk for tests of what survives: it can lose unsynced data, cut files and fail on
// demand.
//
// Strict POSIX, as hostile as the standard allows: File::Sync() makes a file's content durable but
// not its name, SyncDir() makes the names in a folder durable but not the content, CreateDir()
// makes the new folder's own name durable, SyncAll() makes everything durable. Nothing else is.
//
// To try every crash point of an operation:
//
//   for (int n = 1;; ++n) {
//     FakeFileSystem fs;
//     fs.CrashAfter(n);
//     const Status status = Operation(fs);
//     fs.Crash();
//     … what must hold now …
//     if (status.ok()) break;
//   }
//
// Paths with and without a leading '/' name the same file. Links are never followed. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"

namespace kerf {

class FakeFileSystem : public FileSystem {
 public:
  FakeFileSystem();
  ~FakeFileSystem() override;

  // Power loss and restart: files go back to their synced bytes, folders to their synced names;
  // open files become invalid (their calls fail with kIo), locks are free, faults are cleared.
  void Crash();
  // The process dies but the machine does not: as Crash(), but every byte written stays.
  void Kill();
  // Leaves the first `size` bytes of a file, durably.
  void CutFile(const std::string& path, uint64_t size);
  void AddSymlink(const std::string& path, const std::string& target);

  // The n-th mutating call from now (1 is the next) and all later ones fail with `error_number`,
  // without effect.
  void FailAfter(int n, int error_number);
  // Only the n-th call fails.
  void FailOnce(int n, int error_number);
  // Writes succeed for `bytes` more bytes; the one that goes beyond writes what fits and fails,
  // like a full disk.
  void FailWriteAfterBytes(uint64_t bytes, int error_number);
  // As FailAfter(), but the error says that the machine is off; Crash() is to follow.
  void CrashAfter(int n);
  void ClearFaults();
  // Calls so far that could change the disk or make changes durable: creating, Write, Truncate,
  // Sync, Rename, Remove, SetMode, SyncDir, SyncAll, TryLock. Failed ones count.
  [[nodiscard]] int mutating_calls() const;

  Status CreateDirs(const std::string& path) override;
  Status CreateDir(const std::string& path) override;
  Result<std::unique_ptr<File>> OpenNew(const std::string& path) override;
  Result<std::unique_ptr<File>> OpenAppend(const std::string& path) override;
  Result<std::string> ReadFile(const std::string& path) override;
  Result<std::string> ReadRange(const std::string& path, uint64_t offset, uint64_t length) override;
  Result<std::vector<DirEntry>> List(const std::string& dir) override;
  Result<std::optional<FileInfo>> Stat(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  // The fake has no users: only whether the path exists is checked.
  Status SetMode(const std::string& path, int mode) override;
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<SyncPoint>> OpenSyncPoint(const std::string& path) override;
  // What a sync point does.
  virtual Status SyncAll(const std::string& path);
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path,
                                            const std::string& owner) override;

 private:
  struct Disk;
  struct Node;
  class OpenFile;
  class HeldLock;

  const std::shared_ptr<Disk> disk_;  // shared with open files and locks, which may outlive us
};

}  // namespace kerf
