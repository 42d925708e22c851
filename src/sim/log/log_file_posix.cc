#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sim/log/instruction_log.h"

namespace kerf::sim {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<InstructionLog> ReadInstructionLog(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.fd < 0) return ErrnoError("open", path, errno);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return ErrnoError("stat", path, errno);
  if (!S_ISREG(info.st_mode)) return Corrupt(path + ": is no regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return Corrupt(path + ": is empty; the kernel's process recorded nothing");
  // The process that wrote it has ended: nobody cuts the file short under the mapping.
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (bytes == MAP_FAILED) return ErrnoError("map", path, errno);
  ::madvise(bytes, size, MADV_SEQUENTIAL);
  auto log = ParseInstructionLog({static_cast<const char*>(bytes), size});
  ::munmap(bytes, size);
  if (!log.ok()) return std::move(log).error().Within(path);
  return log;
}

}  // namespace kerf::sim
