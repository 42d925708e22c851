#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/file_system.h"
#include "cli/doctor/machine.h"

namespace kerf::cli {
namespace {

class PosixMachine : public Machine {
 public:
  std::optional<std::string> Variable(const std::string& name) override {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  }

  std::vector<std::string> FindPrograms(const std::string& name) override {
    const std::string path = Variable("PATH").value_or("/usr/bin:/bin");
    std::vector<std::string> found;
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find(':', begin), path.size());
      if (const auto program = FindProgram(name, path.substr(begin, end - begin))) {
        found.push_back(*program);
      }
      begin = end + 1;
    }
    return found;
  }

  Result<ProcessOutcome> Run(const Command& command) override { return RunProcess(command); }

  bool Exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }
  bool IsExecutable(const std::string& path) override { return ::access(path.c_str(), X_OK) == 0; }
  bool MayReadAndWrite(const std::string& path) override {
    return ::access(path.c_str(), R_OK | W_OK) == 0;
  }

  std::vector<std::string> List(const std::string& dir) override {
    std::vector<std::string> names;
    DIR* handle = ::opendir(dir.c_str());
    if (handle == nullptr) return names;
    while (const dirent* entry = ::readdir(handle)) {
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    }
    ::closedir(handle);
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string Read(const std::string& path) override {
    // Not through FileSystem: files below /proc and /sys say that they hold no bytes.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return "";
    char buffer[4096];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    ::close(fd);
    return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
  }

  bool CanLoad(const std::string& library) override {
    void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return false;
    ::dlclose(handle);
    return true;
  }

  int LandlockAbi() override {
#ifdef SYS_landlock_create_ruleset
    constexpr unsigned kAskForVersion = 1;  // LANDLOCK_CREATE_RULESET_VERSION
    const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, kAskForVersion);
    return abi > 0 ? static_cast<int>(abi) : 0;
#else
    return 0;
#endif
  }

  uint64_t FileSystemMagic(const std::string& path) override {
    struct statfs info {};
    return ::statfs(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.f_type) : 0;
  }

  Status TryToWrite(const std::string& dir) override {
    std::string name = JoinPath(dir, ".kerf-doctor-XXXXXX");
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return ErrnoError("create a file in", dir, errno);
    const bool written = ::write(fd, "x", 1) == 1;
    const int saved_errno = errno;
    ::close(fd);
    ::unlink(name.c_str());
    if (!written) return ErrnoError("write to a file in", dir, saved_errno);
    return {};
  }

  std::optional<uint64_t> FreeBytes(const std::string& dir) override {
    struct statvfs info {};
    if (::statvfs(dir.c_str(), &info) != 0) return std::nullopt;
    return uint64_t{info.f_bavail} * info.f_frsize;
  }

  std::string BinaryDir() override {
    char path[PATH_MAX];
    const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
    return n <= 0 ? "." : ParentPath(std::string_view(path, static_cast<size_t>(n)));
  }
};

}  // namespace

std::unique_ptr<Machine> MakePosixMachine() { return std::make_unique<PosixMachine>(); }

}  // namespace kerf::cli
