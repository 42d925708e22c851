#include "loop/verify/sandbox_process.h"

#include <sys/socket.h>

#include <cerrno>

#include "sandbox/stop_scope.h"

namespace kerf::verify {

Result<SocketPair> MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoError("create", "a socket", errno);
  }
  SocketPair pair{Fd(fds[0]), Fd(fds[1])};
  // The kernel then tells who sent a message, in our own pid namespace.
  const int on = 1;
  if (::setsockopt(pair.ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return ErrnoError("set up", "a socket", errno);
  }
  return pair;
}

Result<std::unique_ptr<SandboxProcess>> SandboxProcess::Start(RunnerSpec spec) {
  std::unique_ptr<SandboxProcess> process(new SandboxProcess(std::move(spec)));
  KERF_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
  process->socket_ = std::move(pair.ours);
  process->thread_ = std::thread([self = process.get(), end = std::move(pair.theirs),
                                  stop = sandbox::StopScope::Current()]() mutable {
    const sandbox::StopScope scope(std::move(stop));
    const RunnerSpec& how = self->spec_;
    const sandbox::Sandbox box(how.policy, how.limits, how.mode,
                               how.available ? *how.available : sandbox::Probe());
    self->outcome_ = box.RunOn(how.argv, end.get());
    end.Close();  // the judge learns from this that nobody is there any more
  });
  return process;
}

SandboxProcess::~SandboxProcess() {
  // A program that waits for a word sees the end of the conversation; any other meets its wall
  // limit.
  socket_.Close();
  (void)Wait();
}

const Result<sandbox::Outcome>& SandboxProcess::Wait() {
  if (thread_.joinable()) thread_.join();
  return *outcome_;
}

}  // namespace kerf::verify
