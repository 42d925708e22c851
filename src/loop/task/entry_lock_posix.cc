#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <thread>

#include "loop/task/entry_lock.h"

namespace kerf::task {
namespace {

constexpr auto kPause = std::chrono::milliseconds(10);

bool IsStillAt(const Fd& fd, const std::string& path) {
  struct stat mine {};
  struct stat there {};
  return ::fstat(fd.get(), &mine) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

}  // namespace

Result<EntryLock> EntryLock::Acquire(const std::string& path, Kind kind,
                                     std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  const int operation = (kind == Kind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (true) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.open()) return ErrnoError("open the lock", path, errno);
    // Asked again and again: a call that waits could not be given up, and who held the lock may
    // have removed the file.
    while (::flock(fd.get(), operation) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoError("lock", path, errno);
      if (std::chrono::steady_clock::now() > end) {
        return TimedOut("another process holds " + path + "; try again when it is done");
      }
      std::this_thread::sleep_for(kPause);
    }
    if (IsStillAt(fd, path)) return EntryLock(std::move(fd));
  }
}

std::optional<EntryLock> EntryLock::TryExclusive(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.open() || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || !IsStillAt(fd, path)) {
    return std::nullopt;
  }
  return EntryLock(std::move(fd));
}

void EntryLock::Touch() const { (void)::futimens(fd_.get(), nullptr); }

}  // namespace kerf::task
