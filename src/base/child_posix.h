// Starts a child process; the lower half of RunProcess() (subprocess.h).
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <utility>

#include "base/result.h"
#include "base/subprocess.h"

namespace kerf {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Close(); }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Child {
  pid_t pid = -1;  // leads its own process group; the caller reaps it
  Fd stdin_fd;     // our ends of its pipes, close-on-exec
  Fd stdout_fd;
  Fd stderr_fd;
};

// Returns once the program has been executed, or the reason why it was not.
Result<Child> StartChild(const Command& command);

}  // namespace kerf
