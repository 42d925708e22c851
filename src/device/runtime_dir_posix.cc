#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file_system.h"
#include "device/runtime_dir.h"

namespace kerf::device {
namespace {

constexpr size_t kMostBytes = size_t{64} << 10;

// What an attacker could do with a folder decides how it is judged.
enum class Trust {
  kOurs,    // only we may read and write it
  kParent,  // others must not be able to replace what is in it: ours or root's, and either not
            // writable by others or sticky, as /tmp is
};

Status CheckFolder(int fd, const std::string& path, Trust trust) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoError("look at", path, errno);
  const uid_t us = ::geteuid();
  if (trust == Trust::kOurs) {
    if (info.st_uid != us) {
      return Denied("device directory " + path + " belongs to user " + std::to_string(info.st_uid) +
                    ", not to us (" + std::to_string(us) +
                    "); set KERF_DEVICE_DIR to a folder of your own");
    }
    if ((info.st_mode & 077) != 0) {
      char mode[8];
      (void)std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(info.st_mode & 07777));
      return Denied("device directory " + path + " is open to others (mode " + mode +
                    "); run: chmod 700 " + path);
    }
    return {};
  }
  const bool others_write = (info.st_mode & 022) != 0;
  const bool sticky = (info.st_mode & S_ISVTX) != 0;
  if ((info.st_uid != us && info.st_uid != 0) || (others_write && !sticky)) {
    return Denied("others could replace the device directory: " + path +
                  " is writable by them; set KERF_DEVICE_DIR to a folder of your own");
  }
  return {};
}

Result<Fd> OpenFolder(int parent, const std::string& name, const std::string& path) {
  Fd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.open()) return fd;
  // Opening a link with O_NOFOLLOW says ENOTDIR or ELOOP; both mean that somebody put it there.
  if (errno == ELOOP || errno == ENOTDIR) {
    return Denied("device directory " + path +
                  " is a link or no folder; remove it, or set "
                  "KERF_DEVICE_DIR");
  }
  return ErrnoError("open device directory", path, errno);
}

// Opens `name` below `parent`, making it when it is missing, and checks that it is ours alone.
Result<Fd> OpenOwnFolder(int parent, const std::string& name, const std::string& path) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoError("make device directory", path, errno);
  }
  KERF_ASSIGN_OR_RETURN(Fd fd, OpenFolder(parent, name, path));
  KERF_RETURN_IF_ERROR(CheckFolder(fd.get(), path, Trust::kOurs));
  return fd;
}

Result<Fd> OpenParent(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.open()) return ErrnoError("open", path, errno);
  KERF_RETURN_IF_ERROR(CheckFolder(fd.get(), path, Trust::kParent));
  return fd;
}

// base/first/second, the last two ours.
Result<Fd> OpenBelow(const std::string& base, const std::string& first, const std::string& second) {
  KERF_ASSIGN_OR_RETURN(const Fd parent, OpenParent(base));
  KERF_ASSIGN_OR_RETURN(const Fd middle, OpenOwnFolder(parent.get(), first, base + "/" + first));
  return OpenOwnFolder(middle.get(), second, base + "/" + first + "/" + second);
}

bool IsFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

Result<RuntimeDir> RuntimeDir::Open(const Environment& environment) {
  if (const auto own = environment("KERF_DEVICE_DIR"); own.has_value() && !own->empty()) {
    return OpenPath(*own);
  }
  const std::string session = environment("XDG_RUNTIME_DIR").value_or("");
  // The standard has relative values ignored; one that is not there is left over from elsewhere.
  const bool usable = !session.empty() && session.front() == '/' && IsFolder(session);
  const std::string base = usable ? session : "/tmp";
  const std::string first = usable ? "kerf" : "kerf-" + std::to_string(::geteuid());
  KERF_ASSIGN_OR_RETURN(Fd fd, OpenBelow(base, first, "devices"));
  return RuntimeDir(base + "/" + first + "/devices", std::move(fd));
}

Result<RuntimeDir> RuntimeDir::OpenPath(const std::string& path) {
  std::string clean = path;
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  if (clean.empty() || clean.front() != '/') {
    return InvalidInput("the device directory must be an absolute path, not '" + path + "'");
  }
  const std::string parent_path = clean.find_last_of('/') == 0 ? "/" : ParentPath(clean);
  KERF_RETURN_IF_ERROR(MakePosixFileSystem()->CreateDirs(parent_path));
  KERF_ASSIGN_OR_RETURN(const Fd parent, OpenParent(parent_path));
  KERF_ASSIGN_OR_RETURN(Fd fd, OpenOwnFolder(parent.get(), BaseName(clean), clean));
  return RuntimeDir(clean, std::move(fd));
}

Result<Fd> RuntimeDir::OpenFile(const std::string& name, int flags) const {
  // O_NONBLOCK, so that a pipe planted under the name cannot hang us.
  Fd fd(::openat(fd_.get(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd.open()) {
    if (errno == ELOOP) return Denied(Full(name) + " is a link, which kerf never makes; remove it");
    return ErrnoError("open", Full(name), errno);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("look at", Full(name), errno);
  if (!S_ISREG(info.st_mode)) return Denied(Full(name) + " is no regular file; remove it");
  return fd;
}

Result<std::string> RuntimeDir::Read(const std::string& name) const {
  KERF_ASSIGN_OR_RETURN(const Fd fd, OpenFile(name, O_RDONLY));
  std::string text(kMostBytes, '\0');
  const ssize_t n = ::pread(fd.get(), text.data(), text.size(), 0);
  if (n < 0) return ErrnoError("read", Full(name), errno);
  text.resize(static_cast<size_t>(n));
  return text;
}

Status RuntimeDir::Replace(const std::string& name, std::string_view text) const {
  // Two threads of one process may replace the same name at once.
  static std::atomic<unsigned> serial{0};
  const std::string temporary =
      name + "." + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ".tmp";
  {
    KERF_ASSIGN_OR_RETURN(const Fd fd, OpenFile(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n != static_cast<ssize_t>(text.size())) {
      const int saved_errno = n < 0 ? errno : ENOSPC;
      (void)::unlinkat(fd_.get(), temporary.c_str(), 0);
      return ErrnoError("write", Full(temporary), saved_errno);
    }
  }
  if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    return ErrnoError("replace", Full(name), errno);
  }
  return {};
}

Result<bool> RuntimeDir::Remove(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  return ErrnoError("remove", Full(name), errno);
}

Status RuntimeDir::MakeDir(const std::string& name) const {
  KERF_ASSIGN_OR_RETURN(const Fd fd, OpenOwnFolder(fd_.get(), name, Full(name)));
  return {};
}

Result<std::vector<std::string>> RuntimeDir::List(const std::string& name) const {
  const int fd = ::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return ErrnoError("list", Full(name), errno);
  DIR* folder = ::fdopendir(fd);
  if (folder == nullptr) {
    const int saved_errno = errno;
    ::close(fd);
    return ErrnoError("list", Full(name), saved_errno);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      names.emplace_back(entry->d_name);
    }
  }
  ::closedir(folder);
  return names;
}

bool RuntimeDir::IsStillAt(const Fd& fd, const std::string& name) const {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(fd.get(), &open_file) == 0 &&
         ::fstatat(fd_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace kerf::device
