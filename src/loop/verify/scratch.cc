#include "loop/verify/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/child_posix.h"
#include "base/file_system.h"
#include "sandbox/work_folder.h"

namespace kerf::verify {

Result<Scratch> Scratch::Make(const std::string& parent) {
  KERF_RETURN_IF_ERROR(MakePosixFileSystem()->CreateDirs(parent));
  std::string path = parent + "/run-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return ErrnoError("create a folder in", parent, errno);
  return Scratch(path);
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

Scratch::~Scratch() {
  // What cannot be removed is only litter; the verdict stands.
  if (!path_.empty()) (void)sandbox::RemoveTree(path_).ok();
}

Status Scratch::Write(const std::string& name, const std::string& bytes) const {
  const std::string path = JoinPath(path_, name);
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.open()) return ErrnoError("create", path, errno);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("write", path, errno);
    done += static_cast<size_t>(n);
  }
  ::fchmod(fd.get(), 0644);  // whatever the umask
  return {};
}

}  // namespace kerf::verify
