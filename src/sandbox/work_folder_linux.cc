// The walk keeps one open folder and a stack of names still to be visited, and goes back up through
// "..": a program can nest folders deeper than any path may be long.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/child_posix.h"
#include "sandbox/work_folder.h"

namespace kerf::sandbox {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

class Visitor {
 public:
  virtual ~Visitor() = default;
  // Every entry, before what is below it. False ends the walk.
  virtual bool Enter(int folder, const char* name, const struct stat& info) = 0;
  // Folders only, after what is below them.
  virtual bool Leave(int folder, const char* name) = 0;
};

// Names of subfolders; everything else is visited at once.
bool ListFolder(int folder, Visitor& visitor, std::vector<std::string>& subfolders) {
  const int copy = ::openat(folder, ".", kFolderFlags);
  DIR* dir = copy < 0 ? nullptr : ::fdopendir(copy);
  if (dir == nullptr) {
    if (copy >= 0) ::close(copy);
    return errno == EACCES;  // unreadable: left to the visitor, which has seen it
  }
  bool go_on = true;
  while (const dirent* entry = go_on ? ::readdir(dir) : nullptr) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (name == "." || name == "..") continue;
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone
    go_on = visitor.Enter(folder, name.c_str(), info);
    if (S_ISDIR(info.st_mode)) subfolders.push_back(name);
  }
  ::closedir(dir);
  return go_on;
}

struct Level {
  std::vector<std::string> left;  // subfolders not yet visited; back() is the one we are in
};

// False when the visitor ended it or a folder could not be entered; errno says why.
bool Walk(const std::string& root, Visitor& visitor) {
  Fd here(::open(root.c_str(), kFolderFlags));
  if (!here.open()) return false;
  std::vector<Level> levels(1);
  if (!ListFolder(here.get(), visitor, levels.back().left)) return false;
  for (;;) {
    if (levels.back().left.empty()) {
      levels.pop_back();
      if (levels.empty()) return true;
      here = Fd(::openat(here.get(), "..", kFolderFlags));
      if (!here.open()) return false;
      if (!visitor.Leave(here.get(), levels.back().left.back().c_str())) return false;
      levels.back().left.pop_back();
      continue;
    }
    const std::string name = levels.back().left.back();
    Fd next(::openat(here.get(), name.c_str(), kFolderFlags));
    if (!next.open()) {
      if (errno != ENOENT && errno != EACCES) return false;
      if (!visitor.Leave(here.get(), name.c_str())) return false;
      levels.back().left.pop_back();
      continue;
    }
    here = std::move(next);
    levels.emplace_back();
    if (!ListFolder(here.get(), visitor, levels.back().left)) return false;
  }
}

class Giver : public Visitor {
 public:
  Giver(uid_t uid, gid_t gid) : uid_(uid), gid_(gid) {}
  bool Enter(int folder, const char* name, const struct stat& info) override {
    // The kernel clears set-id bits of files as it changes the owner; folders keep theirs.
    if (S_ISDIR(info.st_mode) && (info.st_mode & 07000) != 0) {
      ::fchmodat(folder, name, info.st_mode & 0777, 0);
    }
    return ::fchownat(folder, name, uid_, gid_, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOENT;
  }
  bool Leave(int, const char*) override { return true; }

 private:
  const uid_t uid_;
  const gid_t gid_;
};

class Remover : public Visitor {
 public:
  bool Enter(int folder, const char* name, const struct stat& info) override {
    if (!S_ISDIR(info.st_mode)) return ::unlinkat(folder, name, 0) == 0;
    // Not a link: it was looked at just now, and nothing changes it.
    if ((info.st_mode & 0700) != 0700) ::fchmodat(folder, name, 0700, 0);
    return true;
  }
  bool Leave(int folder, const char* name) override {
    return ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
  }
};

class Measurer : public Visitor {
 public:
  explicit Measurer(const TreeSize& limit) : limit_(limit) {}
  bool Enter(int, const char*, const struct stat& info) override {
    size_.bytes += static_cast<uint64_t>(info.st_blocks) * 512;
    ++size_.entries;
    return size_.bytes <= limit_.bytes && size_.entries <= limit_.entries;
  }
  bool Leave(int, const char*) override { return true; }
  [[nodiscard]] const TreeSize& size() const { return size_; }

 private:
  const TreeSize limit_;
  TreeSize size_;
};

Result<Fd> OpenBeneath(const std::string& folder, const std::string& name) {
  const Fd root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.open()) return ErrnoError("open", folder, errno);
  open_how how{};
  // Non-blocking: opening a FIFO would wait for a writer that never comes.
  how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  Fd file(static_cast<int>(::syscall(SYS_openat2, root.get(), name.c_str(), &how, sizeof how)));
  if (file.open()) return file;
  if (errno == ELOOP || errno == EXDEV) {
    return Denied("result file " + name + " is, or lies behind, a link out of the work folder");
  }
  if (errno == ENXIO) return Denied("result file " + name + " is not a regular file");
  return ErrnoError("open result file", name, errno);
}

}  // namespace

Status GiveTree(const std::string& folder, uid_t uid, gid_t gid) {
  Giver giver(uid, gid);
  if (!Walk(folder, giver)) return ErrnoError("change the owner of files in", folder, errno);
  if (::lchown(folder.c_str(), uid, gid) != 0) return ErrnoError("change owner", folder, errno);
  return {};
}

Status RemoveTree(const std::string& folder) {
  Remover remover;
  if (!Walk(folder, remover) || ::rmdir(folder.c_str()) != 0) {
    return ErrnoError("remove", folder, errno);
  }
  return {};
}

TreeSize MeasureTree(const std::string& folder, const TreeSize& limit) {
  Measurer measurer(limit);
  Walk(folder, measurer);
  return measurer.size();
}

Result<std::string> ReadResultFile(const std::string& folder, const std::string& name,
                                   uint64_t limit) {
  KERF_ASSIGN_OR_RETURN(const Fd file, OpenBeneath(folder, name));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return ErrnoError("look at result file", name, errno);
  if (!S_ISREG(info.st_mode)) return Denied("result file " + name + " is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > limit) {
    return Denied("result file " + name + " has " + std::to_string(info.st_size) +
                  " bytes; at most " + std::to_string(limit) + " are allowed");
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n =
        ::pread(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("read result file", name, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
}

}  // namespace kerf::sandbox
