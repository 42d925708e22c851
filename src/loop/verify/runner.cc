#include "loop/verify/runner.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "loop/verify/elf_symbols.h"
#include "loop/verify/process_view.h"

namespace kerf::verify {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Longer than a pool of threads needs to go to sleep when its work is done.
constexpr std::chrono::microseconds kWatchGrace{1000};
constexpr std::chrono::microseconds kWatchPause{500};
constexpr int kWatchSamples = 6;
// On a machine with much else to do, work in the background gets on slowly: as long as a thread
// wants to run, it is watched until it has used this much, or for so long.
constexpr std::chrono::milliseconds kWatchedWork{2};
constexpr std::chrono::milliseconds kWatchPatience{200};

}  // namespace

Result<std::unique_ptr<Runner>> Runner::Make(Fd socket, Ending ending) {
  std::unique_ptr<Runner> runner(new Runner(std::move(socket), std::move(ending)));
  if (!runner->WaitForHello()) {
    const Result<sandbox::Outcome>& outcome = runner->End();
    if (!outcome.ok()) return outcome.error();
    return Unavailable("the runner did not start: " + sandbox::Describe(*outcome) + " " +
                       outcome->stderr_text.substr(0, 500));
  }
  return runner;
}

Runner::Runner(Fd socket, Ending ending)
    : socket_(std::move(socket)),
      ending_(std::move(ending)),
      findings_(::memfd_create("findings", MFD_CLOEXEC)) {}

Result<std::unique_ptr<Runner>> StartRunner(const RunnerSpec& spec) {
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<SandboxProcess> started, SandboxProcess::Start(spec));
  Fd socket = std::move(started->socket());
  // std::function wants to be copied.
  const std::shared_ptr<SandboxProcess> process(std::move(started));
  return Runner::Make(std::move(socket), [process] { return process->Wait(); });
}

bool Runner::WaitForHello() {
  constexpr std::chrono::seconds kStartTime{
      60};  // an interpreter that imports a framework needs some
  Exchange hello;
  pid_t sender = -1;
  if (!Await(SteadyClock::now() + kStartTime) || !Receive(hello, sender)) return false;
  pid_ = sender;
  pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, sender, 0)));
  return hello.reply.kind == Reply::Kind::kHello && pidfd_.open();
}

void Runner::Signal(int signal) const {
  if (pidfd_.open()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

bool Runner::Await(SteadyClock::time_point until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
    pollfd ready{socket_.get(), POLLIN, 0};
    const int n = left.count() < 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()) + 1);
    if (n < 0 && errno == EINTR) continue;
    return n > 0;
  }
}

Runner::~Runner() { (void)End(); }

Exchange Runner::Load(std::chrono::milliseconds timeout) {
  return Ask(Command::Kind::kLoad, {findings_.get()}, timeout);
}

Exchange Runner::Call(const InputFile& in, OutputFile& out, std::chrono::milliseconds timeout,
                      bool watch) {
  Exchange exchange = Ask(Command::Kind::kCall, {in.fd(), out.fd()}, timeout, &out);
  const bool done =
      exchange.kind == Exchange::Kind::kReplied && exchange.reply.kind == Reply::Kind::kDone;
  if (watch && done) Watch(exchange, timeout);
  return exchange;
}

Exchange Runner::Map(const InputFile& in, const OutputFile& out,
                     std::chrono::milliseconds timeout) {
  return Ask(Command::Kind::kMap, {in.fd(), out.fd()}, timeout);
}

Exchange Runner::Go(std::chrono::milliseconds timeout) {
  return Ask(Command::Kind::kGo, {}, timeout);
}

Exchange Runner::Fetch(std::chrono::milliseconds timeout) {
  return Ask(Command::Kind::kFetch, {}, timeout);
}

Exchange Runner::WriteResult(int fd, std::chrono::milliseconds timeout) {
  return Ask(Command::Kind::kResult, {fd}, timeout);
}

Exchange Runner::Ping(std::chrono::milliseconds timeout) {
  return Ask(Command::Kind::kPing, {}, timeout);
}

Exchange Runner::Ask(Command::Kind kind, const std::vector<int>& fds,
                     std::chrono::milliseconds timeout, OutputFile* snapshot) {
  Exchange exchange;
  Command command;
  command.kind = kind;
  command.call = ++calls_;
  if (::getrandom(command.nonce.data(), command.nonce.size(), 0) < 0) return exchange;
  const auto begin = SteadyClock::now();
  if (!Send(command, fds)) return exchange;
  if (!Await(begin + timeout)) {
    Signal(SIGKILL);
    exchange.kind = Exchange::Kind::kTimedOut;
    return exchange;
  }
  pid_t sender = -1;
  const bool received = Receive(exchange, sender);
  exchange.wall = SteadyClock::now() - begin;
  if (!received) return exchange;
  // Nothing that is written from now on counts.
  if (snapshot != nullptr) {
    Signal(SIGSTOP);
    snapshot->TakeSnapshot();
    Signal(SIGCONT);
  }
  const bool ours = sender == pid_ && exchange.reply.nonce == command.nonce &&
                    exchange.reply.call == command.call;
  // A thread that goes on after its call may fault between questions. Saying so gains nothing.
  const bool fault = sender == pid_ && exchange.reply.kind == Reply::Kind::kFault;
  exchange.kind = ours || fault ? Exchange::Kind::kReplied : Exchange::Kind::kForged;
  return exchange;
}

bool Runner::Send(const Command& command, const std::vector<int>& fds) {
  iovec data{const_cast<Command*>(&command), sizeof command};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 2)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  ssize_t n = 0;
  while ((n = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return n == static_cast<ssize_t>(sizeof command);
}

std::string Runner::TakeFindings() {
  constexpr size_t kMost = 65536;
  std::string text(kMost, '\0');
  const ssize_t n = ::pread(findings_.get(), text.data(), text.size(), findings_read_);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  findings_read_ += n > 0 ? n : 0;
  return text;
}

bool Runner::Receive(Exchange& exchange, pid_t& sender) {
  iovec data{&exchange.reply, sizeof exchange.reply};
  // Room for descriptors too: what a candidate sends must not stay open here.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * 8)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = 0;
  while ((n = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  for (cmsghdr* header = n < 0 ? nullptr : CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
      sender = credentials.pid;
    } else if (header->cmsg_type == SCM_RIGHTS) {
      const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
        ::close(fd);
      }
    }
  }
  if (n != static_cast<ssize_t>(sizeof exchange.reply)) return false;
  exchange.reply.text.back() = '\0';
  exchange.text = exchange.reply.text.data();
  return true;
}

std::chrono::nanoseconds Runner::CpuTime() const { return verify::CpuTime(pid_); }

bool Runner::IsBusy() const { return verify::IsBusy(pid_); }

int Runner::CountOthers() const { return verify::CountOthers(pid_); }

void Runner::WatchLibraries(const std::vector<std::string>& files) {
  known_files_ = ExecutableFiles(pid_);
  known_files_.insert(known_files_.end(), files.begin(), files.end());
}

void Runner::Watch(Exchange& exchange, std::chrono::milliseconds timeout) {
  // Once it answers this, it has cleaned up after the call; a second answer to the call comes to
  // light here as well.
  const Exchange ping = Ping(timeout);
  exchange.processes_after = CountOthers();
  if (ping.kind != Exchange::Kind::kReplied) {
    exchange.kind = ping.kind;
    return;
  }
  std::this_thread::sleep_for(kWatchGrace);
  const auto end = SteadyClock::now() + kWatchPatience;
  const std::chrono::nanoseconds before = CpuTime();
  bool busy = true;
  for (int i = 0;
       i < kWatchSamples || (busy && exchange.cpu_after < kWatchedWork && SteadyClock::now() < end);
       ++i) {
    std::this_thread::sleep_for(kWatchPause);
    busy = IsBusy();
    const std::chrono::nanoseconds now = CpuTime();
    if (now < before) {  // it has died meanwhile
      exchange.kind = Exchange::Kind::kGone;
      return;
    }
    exchange.cpu_after = now - before;
  }
  exchange.processes_after = CountOthers();
  if (known_files_.empty()) return;
  for (const std::string& name : ExecutableFiles(pid_)) {
    const bool known =
        std::find(known_files_.begin(), known_files_.end(), name) != known_files_.end();
    if (!known && !IsAllowedLibrary(name)) exchange.foreign_library = name;
  }
}

const Result<sandbox::Outcome>& Runner::End() {
  if (!outcome_.has_value()) {
    (void)Send(Command(), {});
    // An honest runner ends at once; one whose candidate hangs on is not waited for.
    if (!Await(SteadyClock::now() + std::chrono::milliseconds(200))) Signal(SIGKILL);
    socket_.Close();
    outcome_ = ending_();
  }
  return *outcome_;
}

}  // namespace kerf::verify
