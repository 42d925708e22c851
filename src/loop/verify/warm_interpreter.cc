#include "loop/verify/warm_interpreter.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/json_reader.h"

namespace kerf::verify {
namespace {

constexpr std::chrono::seconds kImportTime{120};
// A child that was killed is reaped at once; cleaning up after it takes a moment.
constexpr std::chrono::seconds kReapTime{10};
constexpr size_t kMostText = 65536;

Result<Fd> TextFile(const std::string& text) {
  Fd fd(::memfd_create("candidate", MFD_CLOEXEC));
  if (!fd.open()) return ErrnoError("create", "a memory file", errno);
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoError("write", "a memory file", errno);
    done += static_cast<size_t>(n);
  }
  return fd;
}

bool SendWithFds(int socket, const std::string& text, const std::vector<int>& fds) {
  iovec data{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 4)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  ssize_t n = 0;
  while ((n = ::sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return n == static_cast<ssize_t>(text.size());
}

// Of whoever sent the message that waits there; an Fd that is not open when it cannot be told.
Fd SenderOfNext(int socket) {
  char byte = 0;
  iovec data{&byte, sizeof byte};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT) < 0) return Fd();
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS) return Fd();
  ucred credentials{};
  std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, credentials.pid, 0)));
}

sandbox::Outcome OutcomeOf(int status, const SandboxProcess&) {
  sandbox::Outcome outcome;
  if (WIFSIGNALED(status)) {
    outcome.status = sandbox::OutcomeStatus::kSignaled;
    outcome.signal = WTERMSIG(status);
  } else {
    outcome.status = sandbox::OutcomeStatus::kExited;
    outcome.exit_code = WEXITSTATUS(status);
  }
  return outcome;
}

}  // namespace

Result<std::unique_ptr<WarmInterpreter>> WarmInterpreter::Start(const RunnerSpec& spec) {
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<SandboxProcess> process, SandboxProcess::Start(spec));
  std::unique_ptr<WarmInterpreter> interpreter(new WarmInterpreter(std::move(process)));
  const Result<std::string> word = interpreter->ReceiveText(kImportTime);
  if (word.ok() && word->find("\"ready\"") != std::string::npos) return interpreter;
  if (word.ok()) return Unavailable("the interpreter cannot run candidates: " + *word);
  interpreter->process_->socket().Close();
  const Result<sandbox::Outcome>& outcome = interpreter->process_->Wait();
  if (!outcome.ok()) return outcome.error();
  const std::string& text = outcome->stderr_text;
  return Unavailable("the interpreter cannot run candidates: " + sandbox::Describe(*outcome) +
                     "\n" + text.substr(text.size() > 1000 ? text.size() - 1000 : 0));
}

Result<std::unique_ptr<Runner>> WarmInterpreter::Fork(const std::string& about,
                                                      const std::string& source) {
  KERF_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
  KERF_ASSIGN_OR_RETURN(const Fd file, TextFile(source));
  const std::string request = "{\"op\":\"fork\",\"candidate\":" + about + "}";
  if (!SendWithFds(process_->socket().get(), request, {pair.theirs.get(), file.get()})) {
    broken_ = true;
    return Unavailable("the warm interpreter is gone");
  }
  pair.theirs.Close();
  return Runner::Make(std::move(pair.ours), [this] { return AwaitChild(); });
}

Result<sandbox::Outcome> WarmInterpreter::AwaitChild() {
  const Result<std::string> word = ReceiveText(kReapTime);
  int64_t status = -1;
  if (word.ok()) {
    JsonReader reader(*word);
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "ended") {
        reader.ReadInt(status);
      } else {
        reader.Skip();
      }
    }
  }
  if (status >= 0) return OutcomeOf(static_cast<int>(status), *process_);
  // The server itself was hit: by a limit of the sandbox, or by the candidate, which may have
  // stopped it as well.
  broken_ = true;
  Kill();
  return process_->Wait();
}

WarmInterpreter::~WarmInterpreter() { Kill(); }

void WarmInterpreter::Kill() {
  process_->socket().Close();
  if (pidfd_.open()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

Result<std::string> WarmInterpreter::ReceiveText(std::chrono::milliseconds timeout) {
  pollfd ready{process_->socket().get(), POLLIN, 0};
  int n = 0;
  while ((n = ::poll(&ready, 1, static_cast<int>(timeout.count()))) < 0 && errno == EINTR) {
  }
  if (n <= 0) return TimedOut("the warm interpreter does not answer");
  if (!pidfd_.open()) pidfd_ = SenderOfNext(process_->socket().get());
  std::string text(kMostText, '\0');
  const ssize_t got = ::recv(process_->socket().get(), text.data(), text.size(), 0);
  if (got <= 0) return Unavailable("the warm interpreter is gone");
  text.resize(static_cast<size_t>(got));
  return text;
}

}  // namespace kerf::verify
