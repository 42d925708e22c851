#include "sandbox/launch_linux.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "sandbox/child_linux.h"

namespace kerf::sandbox {
namespace {

// Above 2, so that the child's dup2() to 0, 1 and 2 cannot overwrite it.
Status MoveUp(Fd& fd) {
  if (fd.get() > 2) return {};
  Fd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!moved.open()) return ErrnoError("duplicate", "a descriptor", errno);
  fd = std::move(moved);
  return {};
}

struct Ends {
  Fd ours;
  Fd theirs;
};

Result<Ends> MakeOutputPipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return ErrnoError("create", "a pipe", errno);
  Ends ends{Fd(fds[0]), Fd(fds[1])};
  KERF_RETURN_IF_ERROR(MoveUp(ends.theirs));
  ::fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

Result<Ends> MakeControl() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoError("create", "a socket", errno);
  }
  Ends ends{Fd(fds[0]), Fd(fds[1])};
  KERF_RETURN_IF_ERROR(MoveUp(ends.theirs));
  return ends;
}

unsigned long CloneFlags(const LaunchPlan& plan) {
  unsigned long flags = SIGCHLD;
  if (!plan.namespaces) return flags;
  flags |= CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (plan.cgroup_namespace) flags |= CLONE_NEWCGROUP;
  // Root enters its user namespace later, as nobody (privileges_linux.cc).
  if (plan.caller_uid != 0) flags |= CLONE_NEWUSER;
  return flags;
}

}  // namespace

// A file in memory rather than a pipe: nothing has to be fed while the program runs.
Result<Fd> MakeInput(const std::string& input) {
  if (input.empty()) {
    Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.open()) return ErrnoError("open", "/dev/null", errno);
    KERF_RETURN_IF_ERROR(MoveUp(null));
    return null;
  }
  Fd file(::memfd_create("stdin", MFD_CLOEXEC));
  size_t done = 0;
  while (file.open() && done < input.size()) {
    const ssize_t n = ::write(file.get(), input.data() + done, input.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  if (done < input.size()) return ErrnoError("prepare", "the program's input", errno);
  ::lseek(file.get(), 0, SEEK_SET);
  KERF_RETURN_IF_ERROR(MoveUp(file));
  return file;
}

Result<Launched> Launch(LaunchPlan& plan, int stdin_fd) {
  Fd in(::fcntl(stdin_fd, F_DUPFD_CLOEXEC, 3));
  if (!in.open()) return ErrnoError("duplicate", "the program's input", errno);
  KERF_ASSIGN_OR_RETURN(Ends out, MakeOutputPipe());
  KERF_ASSIGN_OR_RETURN(Ends err, MakeOutputPipe());
  KERF_ASSIGN_OR_RETURN(Ends control, MakeControl());
  plan.stdin_fd = in.get();
  plan.stdout_fd = out.theirs.get();
  plan.stderr_fd = err.theirs.get();
  plan.control_fd = control.theirs.get();

  // No handler of ours may run in the child: all signals wait until it has reset them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, CloneFlags(plan), 0, 0, 0, 0));
  if (pid == 0) RunInit(plan);
  const int saved_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return Unavailable(std::string("cannot make namespaces: ") + std::strerror(saved_errno));
  }
  Launched launched{pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
                    std::move(control.ours), std::move(out.ours), std::move(err.ours)};
  return launched;
}

void Go(const Launched& launched) {
  const char word = 1;
  ::send(launched.control.get(), &word, 1, MSG_NOSIGNAL);
}

bool Receive(const Fd& control, Report& report, std::vector<Fd>& fds, bool& closed) {
  iovec data{&report, sizeof report};
  alignas(cmsghdr) char buffer[CMSG_SPACE(sizeof(int) * 3)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = buffer;
  message.msg_controllen = sizeof buffer;
  const ssize_t n = ::recvmsg(control.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  closed = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
  if (n <= 0) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return n == static_cast<ssize_t>(sizeof report);
}

}  // namespace kerf::sandbox
