#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/file_system.h"

namespace kerf {
namespace {

FileKind KindOf(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  if (S_ISDIR(mode)) return FileKind::kDirectory;
  if (S_ISLNK(mode)) return FileKind::kSymlink;
  return FileKind::kOther;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  const int fd_;
};

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return ErrnoError("write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<std::string> ReadUpTo(int fd, uint64_t offset, uint64_t length, const std::string& path) {
  std::string bytes;
  bytes.resize(length);
  size_t done = 0;
  while (done < length) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (n < 0) {
      if (errno == EINTR) continue;
      return ErrnoError("read", path, errno);
    }
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

class PosixFile : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Status Write(std::string_view bytes) override { return WriteAll(fd_.get(), bytes, path_); }

  void StartSync() override {
    // A hint: where it is not supported the later Sync() does all the work.
    (void)::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }

  Status Sync() override {
    if (::fdatasync(fd_.get()) != 0) {
      return ErrnoError("sync", path_, errno);
    }
    return {};
  }

  Result<uint64_t> Size() override {
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) {
      return ErrnoError("stat", path_, errno);
    }
    return static_cast<uint64_t>(info.st_size);
  }

  Result<std::string> ReadAt(uint64_t offset, uint64_t length) override {
    KERF_ASSIGN_OR_RETURN(const uint64_t size, Size());
    if (offset >= size) {
      return std::string();
    }
    return ReadUpTo(fd_.get(), offset, std::min(length, size - offset), path_);
  }

  Status Truncate(uint64_t size) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      return ErrnoError("truncate", path_, errno);
    }
    return {};
  }

  Status Lock() override {
    while (::flock(fd_.get(), LOCK_EX) != 0) {
      if (errno != EINTR) {
        return ErrnoError("lock", path_, errno);
      }
    }
    return {};
  }

  void Unlock() override { (void)::flock(fd_.get(), LOCK_UN); }

  bool IsStillAt(const std::string& path) override {
    struct stat mine {};
    struct stat there {};
    return ::fstat(fd_.get(), &mine) == 0 && ::lstat(path.c_str(), &there) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
  }

 private:
  const Descriptor fd_;
  const std::string path_;
};

class PosixFileLock : public FileLock {
 public:
  PosixFileLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixFileLock() override {
    // Emptied, not removed: removing a lock file would let two processes lock two different files
    // of one name.
    (void)!::ftruncate(fd_.get(), 0);
  }

 private:
  const Descriptor fd_;
  const std::string path_;
};

class PosixSyncPoint : public SyncPoint {
 public:
  PosixSyncPoint(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Status Sync() override {
    if (::syncfs(fd_.get()) != 0) {
      return ErrnoError("sync the file system of", path_, errno);
    }
    return {};
  }

 private:
  Descriptor fd_;
  std::string path_;
};

class PosixFileSystem : public FileSystem {
 public:
  Status CreateDirs(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {
      if (!S_ISDIR(info.st_mode)) {
        return InvalidInput(path + " exists and is not a directory");
      }
      return {};
    }
    const std::string parent = ParentPath(path);
    if (parent != path) {
      KERF_RETURN_IF_ERROR(CreateDirs(parent));
    }
    return CreateDir(path);
  }

  Status CreateDir(const std::string& path) override {
    if (::mkdir(path.c_str(), 0777) == 0) {
      return SyncDir(ParentPath(path));
    }
    if (errno != EEXIST) {
      return ErrnoError("create directory", path, errno);
    }
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
      return ErrnoError("stat", path, errno);
    }
    if (S_ISLNK(info.st_mode)) {
      return Denied(path + " is a symbolic link; kerf does not write through links, remove it");
    }
    if (!S_ISDIR(info.st_mode)) {
      return InvalidInput(path + " exists and is not a directory");
    }
    return SyncDir(ParentPath(path));
  }

  Result<std::unique_ptr<File>> OpenNew(const std::string& path) override {
    return Open(path, O_WRONLY | O_CREAT | O_EXCL, "create");
  }

  Result<std::unique_ptr<File>> OpenAppend(const std::string& path) override {
    return Open(path, O_RDWR | O_CREAT | O_APPEND, "open");
  }

  Result<std::string> ReadFile(const std::string& path) override {
    return ReadRange(path, 0, std::numeric_limits<uint64_t>::max());
  }

  Result<std::string> ReadRange(const std::string& path, uint64_t offset,
                                uint64_t length) override {
    // O_NONBLOCK: opening a FIFO that someone left in the folder would wait for its writer.
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!fd.valid()) {
      return ErrnoError("read", path, errno);
    }
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) {
      return ErrnoError("stat", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
      return InvalidInput(path + " is not a regular file");
    }
    const auto size = static_cast<uint64_t>(info.st_size);
    if (offset >= size) {
      return std::string();
    }
    return ReadUpTo(fd.get(), offset, std::min(length, size - offset), path);
  }

  Result<std::vector<DirEntry>> List(const std::string& dir) override {
    DIR* handle = ::opendir(dir.c_str());
    if (handle == nullptr) {
      return ErrnoError("list", dir, errno);
    }
    std::vector<DirEntry> entries;
    errno = 0;
    while (const dirent* entry = ::readdir(handle)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      entries.push_back({std::string(name), KindOfEntry(*entry, dir)});
      errno = 0;
    }
    const int saved_errno = errno;
    ::closedir(handle);
    if (saved_errno != 0) {
      return ErrnoError("list", dir, saved_errno);
    }
    return entries;
  }

  Result<std::optional<FileInfo>> Stat(const std::string& path) override {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) {
        return std::optional<FileInfo>();
      }
      return ErrnoError("stat", path, errno);
    }
    return std::optional<FileInfo>(
        FileInfo{KindOf(info.st_mode), static_cast<uint64_t>(info.st_size),
                 int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec});
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return ErrnoError("rename " + from + " to", to, errno);
    }
    return {};
  }

  Status Remove(const std::string& path) override {
    if (::remove(path.c_str()) != 0) {
      return ErrnoError("remove", path, errno);
    }
    return {};
  }

  Status SetMode(const std::string& path, int mode) override {
    if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0) {
      return ErrnoError("set the mode of", path, errno);
    }
    return {};
  }

  Status SyncDir(const std::string& dir) override {
    const Descriptor fd(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) {
      return ErrnoError("open directory", dir, errno);
    }
    if (::fsync(fd.get()) != 0) {
      return ErrnoError("sync directory", dir, errno);
    }
    return {};
  }

  Result<std::unique_ptr<SyncPoint>> OpenSyncPoint(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      return ErrnoError("open", path, errno);
    }
    return std::unique_ptr<SyncPoint>(std::make_unique<PosixSyncPoint>(fd, path));
  }

  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path,
                                            const std::string& owner) override {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
      return ErrnoError("open lock", path, errno);
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int saved_errno = errno;
      Result<std::string> holder = ReadUpTo(fd, 0, 4096, path);
      ::close(fd);
      if (saved_errno != EWOULDBLOCK) {
        return ErrnoError("lock", path, saved_errno);
      }
      return Unavailable(holder.ok() && !holder->empty() ? *holder : "another process");
    }
    auto lock = std::make_unique<PosixFileLock>(fd, path);
    if (::ftruncate(fd, 0) != 0) {
      return ErrnoError("write lock", path, errno);
    }
    KERF_RETURN_IF_ERROR(WriteAll(fd, owner, path));
    return std::unique_ptr<FileLock>(std::move(lock));
  }

 private:
  static Result<std::unique_ptr<File>> Open(const std::string& path, int flags,
                                            const char* operation) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
      return ErrnoError(operation, path, errno);
    }
    return std::unique_ptr<File>(std::make_unique<PosixFile>(fd, path));
  }

  static FileKind KindOfEntry(const dirent& entry, const std::string& dir) {
    switch (entry.d_type) {
      case DT_REG:
        return FileKind::kFile;
      case DT_DIR:
        return FileKind::kDirectory;
      case DT_LNK:
        return FileKind::kSymlink;
      case DT_UNKNOWN: {  // some network file systems do not say
        struct stat info {};
        if (::lstat(JoinPath(dir, entry.d_name).c_str(), &info) == 0) {
          return KindOf(info.st_mode);
        }
        return FileKind::kOther;
      }
      default:
        return FileKind::kOther;
    }
  }
};

}  // namespace

std::unique_ptr<FileSystem> MakePosixFileSystem() { return std::make_unique<PosixFileSystem>(); }

}  // namespace kerf
