// The one seam between kerf and the disk. PosixFileSystem is the real thing; FakeFileSystem
// (fake_file_system.h) is an in-memory disk for tests that can lose unsynced data, cut files and
// fail on demand.
//
// Paths are plain strings. No call follows a symbolic link in the last component when it creates or
// writes, so that a link planted in a log directory cannot lead a write outside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kerf {

enum class FileKind { kFile, kDirectory, kSymlink, kOther };

struct FileInfo {
  FileKind kind = FileKind::kOther;
  uint64_t size = 0;
  int64_t mtime_ns = 0;  // since the Unix epoch
};

struct DirEntry {
  std::string name;
  FileKind kind = FileKind::kOther;
};

// An open file. Not thread-safe. Closed by the destructor; errors that matter are reported by
// Sync().
class File {
 public:
  virtual ~File() = default;
  // All of it or an error; appends when the file was opened for appending.
  virtual Status Write(std::string_view bytes) = 0;
  // Begins to write cached data to the device without waiting: a later Sync() of several files then
  // waits once.
  virtual void StartSync() = 0;
  // Data and size are on the device when this returns.
  virtual Status Sync() = 0;
  virtual Result<uint64_t> Size() = 0;
  virtual Result<std::string> ReadAt(uint64_t offset, uint64_t length) = 0;
  virtual Status Truncate(uint64_t size) = 0;
  // Waits for an exclusive advisory lock on the file; other processes that Lock() it wait.
  virtual Status Lock() = 0;
  virtual void Unlock() = 0;
  // Whether `path` still names this very file: false when it or its folder was removed or replaced
  // meanwhile.
  virtual bool IsStillAt(const std::string& path) = 0;
};

// An exclusive lock that ends with the process, however that ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Waits for a whole file system. It tells of data that could not be written since it was opened,
// also when another one was told first; so everybody who waits has one of his own, opened before
// what he waits for is written.
class SyncPoint {
 public:
  virtual ~SyncPoint() = default;
  // Everything written so far is on the device when this returns. Costs one wait however many files
  // were written, but also waits for other programs' data.
  virtual Status Sync() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Status CreateDirs(const std::string& path) = 0;
  // Creates one folder durably; success when it is there already and is a real folder, not a link
  // to one. Its name is on the device then too: whoever made it may have ended before that.
  virtual Status CreateDir(const std::string& path) = 0;
  // Fails when the file exists.
  virtual Result<std::unique_ptr<File>> OpenNew(const std::string& path) = 0;
  // Creates the file when it is missing; Write() appends.
  virtual Result<std::unique_ptr<File>> OpenAppend(const std::string& path) = 0;
  virtual Result<std::string> ReadFile(const std::string& path) = 0;
  // Up to `length` bytes from `offset`; fewer at the end of the file.
  virtual Result<std::string> ReadRange(const std::string& path, uint64_t offset,
                                        uint64_t length) = 0;
  // Unsorted, without "." and "..".
  virtual Result<std::vector<DirEntry>> List(const std::string& dir) = 0;
  // Does not follow links. nullopt when nothing is there.
  virtual Result<std::optional<FileInfo>> Stat(const std::string& path) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  // The permission bits, whatever the process's mask says. Of a link's target when it is one.
  virtual Status SetMode(const std::string& path, int mode) = 0;
  virtual Status SyncDir(const std::string& dir) = 0;
  // Of the file system that holds `path`.
  virtual Result<std::unique_ptr<SyncPoint>> OpenSyncPoint(const std::string& path) = 0;
  // Takes the lock at once or fails with kUnavailable and the text the present holder left. `owner`
  // is that text for us.
  virtual Result<std::unique_ptr<FileLock>> TryLock(const std::string& path,
                                                    const std::string& owner) = 0;
};

// The disk of this machine.
std::unique_ptr<FileSystem> MakePosixFileSystem();

// Replaces `path` in one step that survives a crash: temporary file, sync, rename, sync of the
// folder. A reader sees the old content or the new, never a mixture. The temporary name is fixed
// (path + ".tmp"), so that a crash leaves at most one: callers see to it that only one writer
// replaces a path at a time.
Status WriteFileAtomic(FileSystem& fs, const std::string& path, std::string_view bytes);

// Whether something has this name; what cannot be looked at is not there.
bool IsThere(FileSystem& fs, const std::string& path);
// Whether `path` is `folder` or, by its text, something in it.
bool IsBelow(const std::string& path, const std::string& folder);

// "a/b" + "c" → "a/b/c".
std::string JoinPath(std::string_view dir, std::string_view name);
// The part before the last '/', "." when there is none; and the part after it.
std::string ParentPath(std::string_view path);
std::string BaseName(std::string_view path);
// Replaces a leading "~" by $HOME, as AIKG does for log_dir.
std::string ExpandHome(const std::string& path);
// `path`, made absolute when its last part is "." or "..", which do not tell the folder's name.
std::string NamedPath(const std::string& path);

}  // namespace kerf
