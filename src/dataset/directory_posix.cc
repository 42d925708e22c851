#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "dataset/directory.h"

namespace kerf::dataset {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

FileKind KindFrom(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  if (S_ISDIR(mode)) return FileKind::kDirectory;
  if (S_ISLNK(mode)) return FileKind::kSymlink;
  return FileKind::kOther;
}

// By number: older C libraries do not have the function.
int RenameAt2(int from, const char* name, int to, const char* new_name, unsigned flags) {
  return static_cast<int>(::syscall(SYS_renameat2, from, name, to, new_name, flags));
}

Status MakeParents(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return {};
    return InvalidInput(path + " exists and is not a folder");
  }
  const std::string parent = ParentPath(path);
  if (parent != path) KERF_RETURN_IF_ERROR(MakeParents(parent));
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoError("create folder", path, errno);
  }
  return {};
}

}  // namespace

Directory::~Directory() {
  if (fd_ >= 0) ::close(fd_);
}

Directory::Directory(Directory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

Directory& Directory::operator=(Directory&& other) noexcept {
  if (this == &other) return *this;
  if (fd_ >= 0) ::close(fd_);
  fd_ = std::exchange(other.fd_, -1);
  path_ = std::move(other.path_);
  return *this;
}

Result<Directory> Directory::OpenOrMake(const std::string& wanted) {
  std::string path = wanted;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.empty()) return InvalidInput("the output folder has no name");
  if (const std::string parent = ParentPath(path); parent != path) {
    KERF_RETURN_IF_ERROR(MakeParents(parent));
  }
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoError("create folder", path, errno);
  }
  const int fd = ::open(path.c_str(), kFolderFlags);
  if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
    return Denied(path + " is a symbolic link or no folder; kerf writes into folders only");
  }
  if (fd < 0) return ErrnoError("open folder", path, errno);
  return Directory(fd, path);
}

Result<Directory> Directory::OpenFolder(const std::string& name) const {
  const int fd = ::openat(fd_, name.c_str(), kFolderFlags);
  if (fd < 0) return ErrnoError("open folder", JoinPath(path_, name), errno);
  return Directory(fd, JoinPath(path_, name));
}

Result<Directory> Directory::MakeFolder(const std::string& name) const {
  if (::mkdirat(fd_, name.c_str(), 0777) != 0) {
    return ErrnoError("create folder", JoinPath(path_, name), errno);
  }
  return OpenFolder(name);
}

std::optional<FileKind> Directory::KindOf(const std::string& name) const {
  struct stat info {};
  if (::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return KindFrom(info.st_mode);
}

Result<std::vector<DirEntry>> Directory::List() const {
  // A descriptor of its own: reading moves its place, and closing the stream closes it.
  const int fd = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) {
    const Error error = ErrnoError("list", path_, errno);
    if (fd >= 0) ::close(fd);
    return error;
  }
  std::vector<DirEntry> entries;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    entries.push_back({name, KindOf(name).value_or(FileKind::kOther)});
  }
  ::closedir(stream);
  return entries;
}

NewFile::~NewFile() {
  if (fd_ >= 0) ::close(fd_);
}

NewFile::NewFile(NewFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

Status NewFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status NewFile::Close() {
  if (::close(std::exchange(fd_, -1)) != 0) return ErrnoError("close", path_, errno);
  return {};
}

Result<NewFile> Directory::Create(const std::string& name, int mode) const {
  const int fd = ::openat(fd_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          static_cast<mode_t>(mode));
  if (fd < 0) return ErrnoError("create", JoinPath(path_, name), errno);
  return NewFile(fd, JoinPath(path_, name));
}

Status Directory::WriteNew(const std::string& name, std::string_view bytes, int mode) const {
  KERF_ASSIGN_OR_RETURN(NewFile file, Create(name, mode));
  KERF_RETURN_IF_ERROR(file.Write(bytes));
  return file.Close();
}

Result<std::string> Directory::Read(const std::string& name, uint64_t most) const {
  const int fd = ::openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return ErrnoError("read", JoinPath(path_, name), errno);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<uint64_t>(info.st_size) > most) {
    ::close(fd);
    return InvalidInput(JoinPath(path_, name) + " is no regular file, or a very large one");
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::read(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  ::close(fd);
  text.resize(done);
  return text;
}

bool Directory::Link(const std::string& name, const Directory& to,
                     const std::string& new_name) const {
  return ::linkat(fd_, name.c_str(), to.fd_, new_name.c_str(), 0) == 0;
}

Status Directory::Move(const std::string& name, const Directory& to,
                       const std::string& new_name) const {
  if (::renameat(fd_, name.c_str(), to.fd_, new_name.c_str()) != 0) {
    return ErrnoError("move to", JoinPath(to.path_, new_name), errno);
  }
  return {};
}

Status Directory::MoveNew(const std::string& name, const Directory& to,
                          const std::string& new_name) const {
  if (RenameAt2(fd_, name.c_str(), to.fd_, new_name.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EINVAL || errno == ENOSYS) {
    if (to.KindOf(new_name).has_value()) {
      return InvalidInput(JoinPath(to.path_, new_name) + " is there already");
    }
    return Move(name, to, new_name);
  }
  return ErrnoError("move to", JoinPath(to.path_, new_name), errno);
}

Status Directory::Exchange(const std::string& name, const Directory& other,
                           const std::string& name_there) const {
  if (RenameAt2(fd_, name.c_str(), other.fd_, name_there.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (errno == EINVAL || errno == ENOSYS) return Unavailable("no exchange on this file system");
  return ErrnoError("exchange with", JoinPath(other.path_, name_there), errno);
}

Status Directory::RemoveAll(const std::string& name) const {
  if (::unlinkat(fd_, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) {
    return ErrnoError("remove", JoinPath(path_, name), errno);
  }
  {
    KERF_ASSIGN_OR_RETURN(const Directory folder, OpenFolder(name));
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, folder.List());
    for (const DirEntry& entry : entries) KERF_RETURN_IF_ERROR(folder.RemoveAll(entry.name));
  }
  return RemoveEmpty(name);
}

Status Directory::RemoveEmpty(const std::string& name) const {
  if (::unlinkat(fd_, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return ErrnoError("remove folder", JoinPath(path_, name), errno);
  }
  return {};
}

bool Directory::Lock() const { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }

Status Directory::SyncFileSystem() const {
  if (::syncfs(fd_) != 0) return ErrnoError("sync the file system of", path_, errno);
  return {};
}

}  // namespace kerf::dataset
