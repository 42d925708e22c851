// Builds the tree of files the program sees, in a mount namespace of its own, on a tmpfs mounted
// over /tmp, and makes it the root. The host's tree is then unmounted: there is no path to it.
//
// Sources are opened before the tmpfs covers /tmp, since they may lie there, and are mounted
// through /proc/self/fd.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/child_linux.h"

// glibc 2.36 declares mount_setattr and MOUNT_ATTR_… in sys/mount.h.

namespace kerf::sandbox {
namespace {

constexpr unsigned kAtRecursive = 0x8000;

bool SetAttributes(const char* path, uint64_t attributes, unsigned flags) {
  mount_attr attr{};
  attr.attr_set = attributes;
  return ::syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attr, sizeof attr) == 0;
}

void FdPath(int fd, char* out) {
  constexpr char kOpenFiles[] = "/proc/self/fd/";
  std::memcpy(out, kOpenFiles, sizeof kOpenFiles - 1);
  out += sizeof kOpenFiles - 1;
  char digits[12];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + fd % 10);
    fd /= 10;
  } while (fd != 0);
  while (count > 0) *out++ = digits[--count];
  *out = '\0';
}

bool WriteNewFile(const char* path, const std::string& content) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const ssize_t written = ::write(fd, content.data(), content.size());
  ::close(fd);
  return written == static_cast<ssize_t>(content.size());
}

// MS_REC: what is mounted below comes along (containers mount driver libraries into /usr one by
// one), and the attributes are set on all of it, or a submount would stay writable.
bool BindMount(const ViewStep& step, int source) {
  char from[40];
  FdPath(source, from);
  return ::mount(from, step.path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
         SetAttributes(step.path.c_str(), step.attributes, kAtRecursive);
}

bool Perform(const ViewStep& step, int source) {
  const char* path = step.path.c_str();
  switch (step.kind) {
    case ViewStep::Kind::kFolder:
      return ::mkdir(path, 0755) == 0 || errno == EEXIST;
    case ViewStep::Kind::kFile:
      return WriteNewFile(path, step.from);
    case ViewStep::Kind::kSymlink:
      return ::symlink(step.from.c_str(), path) == 0;
    case ViewStep::Kind::kBind:
      return BindMount(step, source);
    case ViewStep::Kind::kTmpfs:
      return ::mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, step.from.c_str()) ==
             0;
    case ViewStep::Kind::kProc:
      // hidepid hides init, whose memory is a copy of kerf's.
      return ::mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2") == 0;
  }
  return false;
}

void OpenSources(LaunchPlan& plan) {
  for (size_t i = 0; i < plan.view.size(); ++i) {
    if (plan.view[i].kind != ViewStep::Kind::kBind) continue;
    plan.sources[i] = ::open(plan.view[i].from.c_str(), O_PATH | O_CLOEXEC);
    if (plan.sources[i] < 0) FailChild(plan, Stage::kOpenSource, static_cast<int>(i));
  }
}

}  // namespace

void BuildView(LaunchPlan& plan) {
  ::umask(022);
  // Nothing we mount may appear outside.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    FailChild(plan, Stage::kMountPrivate);
  }
  OpenSources(plan);
  if (::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0 ||
      ::chdir("/tmp") != 0) {
    FailChild(plan, Stage::kMountRoot);
  }
  for (size_t i = 0; i < plan.view.size(); ++i) {
    if (!Perform(plan.view[i], plan.sources[i])) {
      FailChild(plan, Stage::kViewStep, static_cast<int>(i));
    }
    if (plan.sources[i] >= 0) ::close(plan.sources[i]);
  }
  // The old root ends up on top of the new one, and is taken off.
  if (::syscall(SYS_pivot_root, ".", ".") != 0 || ::umount2(".", MNT_DETACH) != 0 ||
      ::chdir("/") != 0 || !SetAttributes("/", MOUNT_ATTR_RDONLY, 0)) {
    FailChild(plan, Stage::kPivot);
  }
}

}  // namespace kerf::sandbox
