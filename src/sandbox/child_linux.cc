// The process tree of a run:
//
//   supervisor (kerf) ── init ── program ── whatever it starts
//
// init is a clone of kerf that never executes anything, so its memory still holds kerf's: it makes
// itself undumpable, which closes /proc/1/{mem,environ,fd} to the program. It exists because a
// process that is pid 1 itself could not be ended by its own abort().
//
// libc's wrappers of the id-changing calls signal all threads of the process; those threads do not
// exist in a clone, hence the raw system calls.
#include "sandbox/child_linux.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace kerf::sandbox {
namespace {

void Send(const LaunchPlan& plan, const Report& report, const int* fds = nullptr, int count = 0) {
  iovec data{const_cast<Report*>(&report), sizeof report};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 3)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * static_cast<size_t>(count));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<size_t>(count));
    std::memcpy(CMSG_DATA(header), fds, sizeof(int) * static_cast<size_t>(count));
  }
  while (::sendmsg(plan.control_fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void CloseRange(unsigned first, unsigned last) {
  if (first > last) return;
  if (::syscall(SYS_close_range, first, last, 0U) == 0) return;
  // Before Linux 5.9.
  for (unsigned fd = first; fd <= std::min(last, 65536U); ++fd) ::close(static_cast<int>(fd));
}

// Everything but stdio and the control socket. Descriptors of kerf, of its libraries and of whoever
// started it must reach neither the program nor init: init would keep other children's pipes open.
void CloseOthers(const LaunchPlan& plan) {
  CloseRange(3, static_cast<unsigned>(plan.control_fd) - 1);
  CloseRange(static_cast<unsigned>(plan.control_fd) + 1, ~0U);
}

void SetUpStdio(const LaunchPlan& plan) {
  if (::dup2(plan.stdin_fd, 0) < 0 || ::dup2(plan.stdout_fd, 1) < 0 ||
      ::dup2(plan.stderr_fd, 2) < 0) {
    FailChild(plan, Stage::kStdio);
  }
  CloseOthers(plan);
}

void ResetSignals() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &by_default, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Ties our life to the supervisor's. Changing ids undoes it, so it is called again afterwards; the
// second half catches a supervisor that died in between.
void DieWithSupervisor(const LaunchPlan& plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd control{plan.control_fd, POLLIN, 0};
  if (::poll(&control, 1, 0) > 0 && (control.revents & (POLLHUP | POLLERR)) != 0) ::_exit(127);
}

// The supervisor puts us into our cgroup first.
void WaitForWord(const LaunchPlan& plan) {
  char word = 0;
  ssize_t n = 0;
  while ((n = ::read(plan.control_fd, &word, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) ::_exit(127);
}

// When the machine runs out of memory, the kernel shall look here first.
void OfferToOomKiller() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!::write(fd, "1000", 4);
  ::close(fd);
}

void BuildWalls(LaunchPlan& plan) {
  OfferToOomKiller();
  const bool unprivileged = plan.namespaces && plan.caller_uid != 0;
  if (unprivileged) WriteIdMaps(plan);
  if (plan.namespaces) {
    BuildView(plan);
    // The host's name is nobody's business; a failure would only leave it visible.
    (void)!::sethostname("kerf", 4);
  }
  if (!plan.drop_privileges) return;
  if (plan.caller_uid == 0) BecomeNobody(plan);
  if (plan.namespaces && plan.user_namespace && plan.forbid_user_namespaces) {
    ForbidUserNamespaces(plan);
  }
  DropCapabilities(plan);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) FailChild(plan, Stage::kNoNewPrivileges);
}

long SetFilter(const std::vector<sock_filter>& filter, unsigned flags) {
  sock_fprog program{static_cast<unsigned short>(filter.size()),
                     const_cast<sock_filter*>(filter.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

void InstallFilter(const LaunchPlan& plan, ReadyFds& fds) {
  if (!plan.filter.empty()) {
    const long listener = SetFilter(plan.filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (listener >= 0) {
      fds.listener = static_cast<int>(listener);
      return;
    }
  }
  if (!plan.filter_without_listener.empty() && SetFilter(plan.filter_without_listener, 0) != 0) {
    FailChild(plan, Stage::kSeccomp);
  }
}

}  // namespace

void FailChild(const LaunchPlan& plan, Stage stage, int index) {
  Report report;
  report.kind = Report::Kind::kFailed;
  report.saved_errno = errno;
  report.stage = stage;
  report.index = index;
  Send(plan, report);
  ::_exit(127);
}

void RunProgram(const LaunchPlan& plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // of init; its death would otherwise leave us unwatched
  if (!plan.folder.empty() && ::chdir(plan.folder.c_str()) != 0) FailChild(plan, Stage::kFolder);
  for (size_t i = 0; i < plan.rlimits.size(); ++i) {
    const auto& [resource, limit] = plan.rlimits[i];
    if (::syscall(SYS_prlimit64, 0, resource, &limit, nullptr) != 0) {
      FailChild(plan, Stage::kRlimit, static_cast<int>(i));
    }
  }
  ReadyFds fds;
  if (plan.namespaces) {
    fds.tmp = ::open("/tmp", O_PATH | O_CLOEXEC);
    fds.shm = ::open("/dev/shm", O_PATH | O_CLOEXEC);
  }
  if (plan.landlock_abi > 0) {
    errno = RestrictByLandlock(plan);
    if (errno != 0) FailChild(plan, Stage::kLandlock);
  }
  InstallFilter(plan, fds);
  Report ready;
  ready.kind = Report::Kind::kReady;
  const int list[] = {fds.tmp, fds.shm, fds.listener};
  const int count = !plan.namespaces ? 0 : fds.listener < 0 ? 2 : 3;
  // Without namespaces only the listener is sent.
  if (count == 0 && fds.listener >= 0) {
    Send(plan, ready, &fds.listener, 1);
  } else {
    Send(plan, ready, list, count);
  }
  if (plan.program.empty()) ::_exit(0);
  // What is open now must not be seen by the program; the control socket lives until exec.
  ::close(fds.tmp);
  ::close(fds.shm);
  ::close(fds.listener);
  ::fcntl(plan.control_fd, F_SETFD, FD_CLOEXEC);
  ::execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  FailChild(plan, Stage::kExec);
}

void RunInit(LaunchPlan& plan) {
  ResetSignals();  // all default: pid 1 is then immune to signals from inside
  SetUpStdio(plan);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  WaitForWord(plan);
  ::setsid();  // no terminal to type into
  if (!plan.namespaces) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  BuildWalls(plan);
  if (plan.drop_privileges) ::prctl(PR_SET_DUMPABLE, 0);
  DieWithSupervisor(plan);

  const auto program = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (program < 0) FailChild(plan, Stage::kFork);
  if (program == 0) RunProgram(plan);
  // Only the program and its children may hold its pipes: their end is the end of the output.
  CloseRange(0, 2);
  for (;;) {
    Report report;
    const auto ended =
        static_cast<pid_t>(::syscall(SYS_wait4, -1, &report.wait_status, 0, &report.usage));
    if (ended < 0 && errno == EINTR) continue;
    if (ended != program && ended > 0) continue;
    report.kind = Report::Kind::kEnded;
    Send(plan, report);
    if (plan.namespaces) ::_exit(0);
    // Without a pid namespace the supervisor hunts the rest down, with us as their parent.
    for (;;) {
      if (::syscall(SYS_wait4, -1, nullptr, 0, nullptr) < 0) ::pause();
    }
  }
}

}  // namespace kerf::sandbox
