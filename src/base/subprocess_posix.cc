// One poll() loop drives a run: it feeds stdin, drains both outputs and watches the child through a
// pidfd. The child is looked at with WNOWAIT and reaped last: until then its process group id
// cannot be reused, so that killing the group can never hit a stranger.
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <string_view>

#include "base/child_posix.h"
#include "base/subprocess.h"

namespace kerf {
namespace {

using SteadyClock = std::chrono::steady_clock;

void SetNonBlocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// A write to a pipe whose reader has gone raises SIGPIPE in the writing thread. Kept away for the
// duration of a run, and taken back if it came, without touching what other threads or the program
// do with SIGPIPE.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeGuard() {
    const timespec now{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &now) == -1 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
};

struct Output {
  Fd fd;
  size_t limit;
  std::string text;
  bool truncated = false;

  // Takes what is there, up to 1 MiB: a child that never stops printing must not keep the loop from
  // its deadline. Closes at the end of the stream.
  void Drain() {
    char buffer[65536];
    for (int i = 0; i < 16 && fd.open(); ++i) {
      const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) {
        fd.Close();
        return;
      }
      const auto got = static_cast<size_t>(n);
      const size_t kept = std::min(got, limit - text.size());
      text.append(buffer, kept);
      truncated = truncated || kept < got;
      if (got < sizeof buffer) return;
    }
  }
};

// A started child and our ends of its pipes.
class Run {
 public:
  Run(const Command& command, Child child)
      : command_(command),
        pid_(child.pid),
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0))),
        stdin_(std::move(child.stdin_fd)),
        stdout_{std::move(child.stdout_fd), command.stdout_limit},
        stderr_{std::move(child.stderr_fd), command.stderr_limit},
        input_(command.input) {
    for (const Fd* fd : {&stdin_, &stdout_.fd, &stderr_.fd}) SetNonBlocking(*fd);
    if (input_.empty()) stdin_.Close();
  }

  ProcessOutcome Finish() {
    const auto begin = SteadyClock::now();
    auto deadline = begin + command_.timeout;
    bool exited = false;
    bool stopped = false;
    enum { kRunning, kTerminated, kKilled } state = kRunning;
    while (!exited || stdout_.fd.open() || stderr_.fd.open()) {
      if (!exited && HasExited()) {
        exited = true;
        // Descendants may still hold the pipes; they get the grace period to finish what they are
        // writing.
        deadline = std::min(deadline, SteadyClock::now() + command_.grace);
        continue;
      }
      if (!stopped && !exited && command_.stop && command_.stop()) {
        stopped = true;
        deadline = SteadyClock::now();
      }
      if (SteadyClock::now() >= deadline) {
        if (exited || state == kKilled) break;
        ::kill(-pid_, state == kRunning ? SIGTERM : SIGKILL);
        state = state == kRunning ? kTerminated : kKilled;
        deadline = SteadyClock::now() + command_.grace;
      }
      PollOnce(deadline, exited);
    }
    ProcessOutcome outcome = Reap();
    outcome.stopped = stopped;
    outcome.timed_out = state != kRunning && !stopped;
    outcome.wall_time = SteadyClock::now() - begin;
    outcome.stdout_text = std::move(stdout_.text);
    outcome.stderr_text = std::move(stderr_.text);
    outcome.stdout_truncated = stdout_.truncated;
    outcome.stderr_truncated = stderr_.truncated;
    return outcome;
  }

 private:
  [[nodiscard]] bool HasExited() const {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return errno == ECHILD;  // SIGCHLD is ignored in this process: the kernel has reaped it
    }
    return info.si_pid == pid_;
  }

  void PollOnce(SteadyClock::time_point deadline, bool exited) {
    pollfd fds[] = {{stdin_.get(), POLLOUT, 0},
                    {stdout_.fd.get(), POLLIN, 0},
                    {stderr_.fd.get(), POLLIN, 0},
                    {exited ? -1 : pidfd_.get(), POLLIN, 0}};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    // Without a pidfd (Linux before 5.3) the child's end is noticed by looking every 10 ms.
    const long most = !pidfd_.open() ? 10 : command_.stop ? 100 : 60'000;
    ::poll(fds, std::size(fds), static_cast<int>(std::clamp<long>(left, 0, most)));
    if (fds[0].revents != 0) Feed();
    if (fds[1].revents != 0) stdout_.Drain();
    if (fds[2].revents != 0) stderr_.Drain();
  }

  void Feed() {
    while (!input_.empty()) {
      const ssize_t n = ::write(stdin_.get(), input_.data(), input_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) break;  // the child does not want the rest
      input_.remove_prefix(static_cast<size_t>(n));
    }
    stdin_.Close();
  }

  ProcessOutcome Reap() {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ProcessOutcome outcome;
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    return outcome;
  }

  const Command& command_;
  const pid_t pid_;
  const Fd pidfd_;
  Fd stdin_;
  Output stdout_;
  Output stderr_;
  std::string_view input_;  // what is left to feed
};

}  // namespace

Result<ProcessOutcome> RunProcess(const Command& command) {
  KERF_ASSIGN_OR_RETURN(Child child, StartChild(command));
  const SigpipeGuard guard;
  return Run(command, std::move(child)).Finish();
}

std::vector<std::string> EnvironmentEntries() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

}  // namespace kerf
