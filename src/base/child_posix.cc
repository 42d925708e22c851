#include "base/child_posix.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace kerf {
namespace {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return ErrnoError("create", "a pipe", errno);
  Pipe pipe{Fd(fds[0]), Fd(fds[1])};
  // Above 2, so that the child's dup2() to 0, 1 and 2 cannot overwrite another end (we may have
  // been started without them).
  for (Fd* end : {&pipe.read, &pipe.write}) {
    if (end->get() > 2) continue;
    Fd moved(::fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (!moved.open()) return ErrnoError("create", "a pipe", errno);
    *end = std::move(moved);
  }
  return pipe;
}

// Everything the child needs between fork and exec, laid out before the fork: afterwards only
// async-signal-safe calls are allowed, because another thread may have held any lock at that
// moment.
struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* cwd;  // null: stay
  int stdin_fd, stdout_fd, stderr_fd;
  int error_fd;
  pid_t parent;
};

struct ChildFailure {
  int saved_errno = 0;
  bool in_chdir = false;
};

[[noreturn]] void FailChild(const ChildPlan& plan, bool in_chdir) {
  const ChildFailure failure{errno, in_chdir};
  (void)!::write(plan.error_fd, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void RunChild(const ChildPlan& plan) {
  ::setpgid(0, 0);
  // Without it a kerf that is killed would leave a compiler or a candidate running.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &by_default, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(plan.stdin_fd, 0) < 0 || ::dup2(plan.stdout_fd, 1) < 0 ||
      ::dup2(plan.stderr_fd, 2) < 0) {
    FailChild(plan, false);
  }
#ifdef SYS_close_range
  // Ours are all close-on-exec; this is for descriptors of libraries and of whoever started us.
  // CLOEXEC rather than closing: error_fd must live until exec. Kernels before 5.11 lack it, and
  // then those descriptors are inherited.
  constexpr unsigned kCloseRangeCloexec = 4;
  ::syscall(SYS_close_range, 3U, ~0U, kCloseRangeCloexec);
#endif
  if (plan.cwd != nullptr && ::chdir(plan.cwd) != 0) FailChild(plan, true);
  ::execve(plan.program, plan.argv, plan.environment);
  FailChild(plan, false);
}

pid_t ForkChild(const ChildPlan& plan) {
  // No handler of ours may run in the child: all signals wait until it has reset them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) RunChild(plan);
  const int saved_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid > 0) ::setpgid(pid, pid);  // also here: either of us may come first
  errno = saved_errno;
  return pid;
}

// The error pipe closes by itself when exec succeeds.
std::optional<ChildFailure> WaitForExec(const Fd& error_fd) {
  ChildFailure failure;
  ssize_t n = 0;
  while ((n = ::read(error_fd.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (n != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string PathOf(const Command& command) {
  constexpr std::string_view kName = "PATH=";
  if (command.environment.has_value()) {
    for (const std::string& variable : *command.environment) {
      if (variable.rfind(kName, 0) == 0) return variable.substr(kName.size());
    }
    return "/usr/bin:/bin";
  }
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/bin:/bin" : path;
}

bool HasNul(const Command& command) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return std::any_of(command.argv.begin(), command.argv.end(), has_nul) || has_nul(command.cwd) ||
         (command.environment.has_value() &&
          std::any_of(command.environment->begin(), command.environment->end(), has_nul));
}

Error StartError(const Command& command, const ChildFailure& failure) {
  if (failure.in_chdir) return ErrnoError("enter directory", command.cwd, failure.saved_errno);
  const std::string what = "cannot run " + command.argv[0] + ": ";
  switch (failure.saved_errno) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(what + "no such program, or the interpreter in its first line is missing");
    case EACCES:
    case EPERM:
      return Denied(what + "not executable by this user; check its mode");
    case ENOEXEC:
      return InvalidInput(what + "not a program for this machine");
    default:
      return IoError(what + std::strerror(failure.saved_errno));
  }
}

}  // namespace

Result<Child> StartChild(const Command& command) {
  if (command.argv.empty() || command.argv[0].empty()) {
    return InvalidInput("cannot run a program without a name");
  }
  if (HasNul(command)) {
    return InvalidInput("cannot run " + command.argv[0] + ": an argument holds a NUL");
  }
  const std::optional<std::string> program = FindProgram(command.argv[0], PathOf(command));
  if (!program.has_value()) {
    return NotFound("cannot run " + command.argv[0] + ": no such program in PATH");
  }
  KERF_ASSIGN_OR_RETURN(Pipe in, MakePipe());
  KERF_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  KERF_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  KERF_ASSIGN_OR_RETURN(Pipe error, MakePipe());
  const std::vector<char*> argv = Pointers(command.argv);
  const std::vector<char*> environment =
      command.environment.has_value() ? Pointers(*command.environment) : std::vector<char*>();
  const ChildPlan plan{program->c_str(),
                       argv.data(),
                       command.environment.has_value() ? environment.data() : ::environ,
                       command.cwd.empty() ? nullptr : command.cwd.c_str(),
                       in.read.get(),
                       out.write.get(),
                       err.write.get(),
                       error.write.get(),
                       ::getpid()};
  const pid_t pid = ForkChild(plan);
  if (pid < 0) return ErrnoError("start", command.argv[0], errno);
  for (Fd* fd : {&in.read, &out.write, &err.write, &error.write}) fd->Close();

  if (const std::optional<ChildFailure> failure = WaitForExec(error.read)) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return StartError(command, *failure);
  }
  return Child{pid, std::move(in.write), std::move(out.read), std::move(err.read)};
}

}  // namespace kerf
