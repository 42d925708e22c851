// One poll() loop. The init process is looked at through a pidfd and reaped last: until then its
// number cannot be reused, so that no signal of ours can hit a stranger.
#include "sandbox/supervisor_linux.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

#include "sandbox/plan_builder.h"
#include "sandbox/process_tree.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/work_folder.h"

namespace kerf::sandbox {
namespace {

constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::milliseconds kSpaceTick{100};
// Below this much free space the machine itself is in danger, whoever used it up. It also catches
// what the folder's size does not show: files deleted while open.
constexpr uint64_t kFreeFloor = uint64_t{64} << 20;

std::chrono::nanoseconds Duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::string Bytes(uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

Supervisor::Supervisor(const LaunchPlan& plan, const Limits& limits,
                       std::vector<std::string> folders, const Cgroup* cgroup, Launched launched,
                       std::stop_token stop)
    : plan_(plan),
      limits_(limits),
      folders_(std::move(folders)),
      cgroup_(cgroup),
      launched_(std::move(launched)),
      stop_(std::move(stop)) {}

void Supervisor::Blame(OutcomeStatus status, Reason reason, std::string detail) {
  if (decided_) return;
  decided_ = true;
  outcome_.status = status;
  outcome_.reason = reason;
  outcome_.detail = std::move(detail);
  KillAll();
}

void Supervisor::KillAll() {
  if (gone_) return;
  // With a pid namespace the death of its init is the death of all. Without, the tree is taken
  // apart from outside while init lives, because orphans become its children.
  if (!plan_.namespaces && !KillDescendants(launched_.init)) {
    outcome_.detail += " (some of its processes could not be ended)";
  }
  ::kill(launched_.init, SIGKILL);
}

void Supervisor::Drain(Fd& fd, std::string& text, const char* name) {
  char buffer[65536];
  for (int i = 0; i < 16 && fd.open(); ++i) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      fd.Close();
      return;
    }
    const auto got = static_cast<uint64_t>(n);
    const uint64_t kept = std::min(got, limits_.output_bytes - text.size());
    text.append(buffer, kept);
    if (kept < got) {
      fd.Close();
      Blame(OutcomeStatus::kLimit, Reason::kOutput,
            std::string(name) + " is longer than " + Bytes(limits_.output_bytes));
    }
  }
}

void Supervisor::TakeReports() {
  for (;;) {
    Report report;
    std::vector<Fd> fds;
    bool closed = false;
    const bool got = Receive(launched_.control, report, fds, closed);
    if (got) TakeReport(report, std::move(fds));
    if (closed) launched_.control.Close();
    if (!got) return;
  }
}

void Supervisor::TakeReport(const Report& report, std::vector<Fd> fds) {
  switch (report.kind) {
    case Report::Kind::kReady:
      if (fds.size() > (plan_.namespaces ? 2 : 0)) {
        listener_ = std::move(fds.back());
        fds.pop_back();
      }
      tmp_folders_ = std::move(fds);
      return;
    case Report::Kind::kFailed:
      Blame(OutcomeStatus::kSetupError,
            report.stage == Stage::kExec ? Reason::kExec : Reason::kLayer,
            "cannot " + DescribeStage(plan_, report));
      return;
    case Report::Kind::kEnded:
      Conclude(report);
  }
}

void Supervisor::TakeViolation() {
  // Larger than the structure of any kernel so far; the kernel wants it zeroed.
  union {
    seccomp_notif notification;
    char room[512];
  } event;
  std::memset(&event, 0, sizeof event);
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &event) != 0) return;
  // Not answered: the caller stays in the call until it is killed.
  Blame(OutcomeStatus::kViolation, Reason::kSyscall,
        "system call " + SyscallName(event.notification.data.nr));
}

void Supervisor::Conclude(const Report& report) {
  const auto rss = static_cast<uint64_t>(report.usage.ru_maxrss) * 1024;
  // The kernel counts the memory of kerf's image before exec as the program's; a peak below that
  // tells nothing.
  outcome_.usage.max_rss_bytes = rss > rss_before_ ? rss : sampled_rss_;
  // What it did just before it ended comes first: the cause of a SIGKILL is known to the cgroup.
  Drain(launched_.stdout_fd, outcome_.stdout_text, "stdout");
  Drain(launched_.stderr_fd, outcome_.stderr_text, "stderr");
  next_space_check_ = {};
  Inspect();
  const int status = report.wait_status;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const auto cpu = Duration(report.usage.ru_utime) + Duration(report.usage.ru_stime);
  const bool late = cpu >= limits_.cpu_time;
  if (signal == SIGXCPU || (signal == SIGKILL && late)) {
    Blame(OutcomeStatus::kLimit, Reason::kCpuTime,
          "more than " + std::to_string(limits_.cpu_time.count()) + " ms of CPU time");
  } else if (signal == SIGXFSZ) {
    Blame(OutcomeStatus::kLimit, Reason::kFileSize,
          "a file became larger than " + Bytes(limits_.file_bytes));
  } else if (signal == SIGSYS) {
    Blame(OutcomeStatus::kViolation, Reason::kSyscall, "a forbidden system call");
  } else if (signal != 0) {
    if (!decided_) outcome_.signal = signal;
    Blame(OutcomeStatus::kSignaled, Reason::kNone, ::strsignal(signal));
  } else {
    if (!decided_) outcome_.exit_code = WEXITSTATUS(status);
    Blame(OutcomeStatus::kExited, Reason::kNone, "");
  }
}

void Supervisor::Inspect() {
  InspectTree();
  if (cgroup_ != nullptr && cgroup_->HitMemory()) {
    Blame(OutcomeStatus::kLimit, Reason::kMemory, "more than " + Bytes(limits_.memory_bytes));
  }
  if (cgroup_ != nullptr && cgroup_->HitPids()) {
    Blame(OutcomeStatus::kLimit, Reason::kProcesses,
          "more than " + std::to_string(limits_.processes) + " processes and threads");
  }
  for (const Fd& folder : tmp_folders_) {
    struct statvfs info {};
    if (folder.open() && ::fstatvfs(folder.get(), &info) == 0 &&
        (info.f_bavail == 0 || info.f_favail == 0)) {
      Blame(OutcomeStatus::kLimit, Reason::kTmpSpace,
            "/tmp or /dev/shm is full (" + Bytes(limits_.tmp_bytes) + ")");
    }
  }
  if (Clock::now() >= next_space_check_) InspectSpace();
}

void Supervisor::InspectTree() {
  if (gone_ || decided_) return;
  const TreeUsage usage = SampleTree(launched_.init);
  // Until the program is executed its process has the size of kerf. Once only: a program that forks
  // and leaves cannot get that treatment again.
  executed_ = executed_ || (usage.tasks > 0 && !usage.only_a_copy);
  if (!executed_) return;
  sampled_rss_ = std::max(sampled_rss_, usage.largest_rss_bytes);
  sampled_cpu_ = std::max(sampled_cpu_, usage.cpu);
  if (usage.cpu > limits_.cpu_time) {
    Blame(OutcomeStatus::kLimit, Reason::kCpuTime,
          "more than " + std::to_string(limits_.cpu_time.count()) + " ms of CPU time");
  }
  if (usage.tasks > limits_.processes) {
    Blame(OutcomeStatus::kLimit, Reason::kProcesses,
          "more than " + std::to_string(limits_.processes) + " processes and threads");
  }
  // Pages shared by several processes count for each; a cgroup knows better.
  const bool watched = cgroup_ != nullptr && cgroup_->limits_memory();
  if (!watched && usage.rss_bytes > limits_.memory_bytes) {
    Blame(OutcomeStatus::kLimit, Reason::kMemory, "more than " + Bytes(limits_.memory_bytes));
  }
}

void Supervisor::InspectSpace() {
  const auto begin = Clock::now();
  const TreeSize limit{limits_.work_bytes, limits_.work_files};
  for (const std::string& folder : folders_) {
    const TreeSize size = MeasureTree(folder, limit);
    struct statvfs info {};
    const bool low = ::statvfs(folder.c_str(), &info) == 0 &&
                     uint64_t{info.f_bavail} * info.f_frsize < kFreeFloor;
    if (size.bytes > limit.bytes || size.entries > limit.entries || low) {
      Blame(OutcomeStatus::kLimit, Reason::kWorkSpace,
            low ? "the disk of " + folder + " is nearly full"
                : "more than " + Bytes(limit.bytes) + " or " + std::to_string(limit.entries) +
                      " files in " + folder);
    }
  }
  // Never more than a tenth of our time on this, however many files there are.
  const auto took = Clock::now() - begin;
  next_space_check_ = Clock::now() + std::max<Clock::duration>(kSpaceTick, took * 10);
}

void Supervisor::PollOnce() {
  const auto deadline = begin_ + limits_.wall_time;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  const long wait = std::clamp<long>(left.count(), 1, kTick.count());
  pollfd fds[] = {{launched_.stdout_fd.get(), POLLIN, 0},
                  {launched_.stderr_fd.get(), POLLIN, 0},
                  {launched_.control.get(), POLLIN, 0},
                  {listener_.get(), POLLIN, 0},
                  {launched_.pidfd.get(), POLLIN, 0}};
  ::poll(fds, std::size(fds), static_cast<int>(wait));
  if (fds[0].revents != 0) Drain(launched_.stdout_fd, outcome_.stdout_text, "stdout");
  if (fds[1].revents != 0) Drain(launched_.stderr_fd, outcome_.stderr_text, "stderr");
  if ((fds[3].revents & POLLIN) != 0) TakeViolation();
  if ((fds[3].revents & ~POLLIN) != 0) listener_.Close();  // nobody is left whom it could concern
  if (fds[2].revents != 0) TakeReports();
}

void Supervisor::Reap() {
  rusage usage{};
  while (::wait4(launched_.init, nullptr, 0, &usage) < 0 && errno == EINTR) {
  }
  outcome_.usage.wall = Clock::now() - begin_;
  outcome_.usage.cpu = std::max(sampled_cpu_, Duration(usage.ru_utime) + Duration(usage.ru_stime));
  if (outcome_.usage.max_rss_bytes == 0) outcome_.usage.max_rss_bytes = sampled_rss_;
}

Outcome Supervisor::Run() {
  begin_ = Clock::now();
  next_space_check_ = begin_ + kSpaceTick;
  rss_before_ = ResidentBytes(::getpid());
  Go(launched_);
  auto next_tick = begin_ + kTick;
  while (!gone_) {
    PollOnce();
    if (!decided_ && stop_.stop_requested()) {
      stopped_ = true;
      Blame(OutcomeStatus::kSignaled, Reason::kNone, "stopped");
    }
    if (Clock::now() >= begin_ + limits_.wall_time) {
      Blame(OutcomeStatus::kLimit, Reason::kWallTime,
            "more than " + std::to_string(limits_.wall_time.count()) + " ms");
    }
    if (Clock::now() >= next_tick && !decided_) {
      Inspect();
      next_tick = Clock::now() + kTick;
    }
    siginfo_t info{};
    const int looked =
        ::waitid(P_PID, static_cast<id_t>(launched_.init), &info, WEXITED | WNOHANG | WNOWAIT);
    gone_ = (looked == 0 && info.si_pid == launched_.init) || (looked != 0 && errno == ECHILD);
  }
  TakeReports();
  // All writers are dead: what is in the pipes is all there is.
  for (int i = 0; i < 64 && launched_.stdout_fd.open(); ++i) {
    Drain(launched_.stdout_fd, outcome_.stdout_text, "stdout");
  }
  for (int i = 0; i < 64 && launched_.stderr_fd.open(); ++i) {
    Drain(launched_.stderr_fd, outcome_.stderr_text, "stderr");
  }
  Inspect();
  if (!decided_) {
    outcome_.signal = SIGKILL;
    Blame(OutcomeStatus::kSignaled, Reason::kNone, "the sandbox was killed from outside");
  }
  Reap();
  return std::move(outcome_);
}

}  // namespace kerf::sandbox
