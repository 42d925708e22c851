// Watches one run from outside: collects output, looks at what the tree uses, decides why it ended,
// and sees to it that nothing of it is left.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "sandbox/cgroup_linux.h"
#include "sandbox/launch_linux.h"
#include "sandbox/limits.h"
#include "sandbox/outcome.h"

namespace kerf::sandbox {

class Supervisor {
 public:
  // All but `launched` are borrowed for the time of the run; `cgroup` may be null.
  Supervisor(const LaunchPlan& plan, const Limits& limits, std::vector<std::string> folders,
             const Cgroup* cgroup, Launched launched, std::stop_token stop = {});
  // Lets the program go and returns when everything of it has gone. Call once.
  Outcome Run();
  // Whether it was ended because somebody asked for that: the outcome then says nothing.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  using Clock = std::chrono::steady_clock;

  // The first blame stays and ends the run.
  void Blame(OutcomeStatus status, Reason reason, std::string detail);
  void KillAll();
  void PollOnce();
  void Drain(Fd& fd, std::string& text, const char* name);
  void TakeReports();
  void TakeReport(const Report& report, std::vector<Fd> fds);
  void TakeViolation();
  void Conclude(const Report& report);
  void Inspect();
  void InspectTree();
  void InspectSpace();
  void Reap();

  const LaunchPlan& plan_;
  const Limits& limits_;
  const std::vector<std::string> folders_;
  const Cgroup* const cgroup_;
  Launched launched_;
  const std::stop_token stop_;
  Fd listener_;
  std::vector<Fd> tmp_folders_;

  Outcome outcome_;
  bool decided_ = false;
  bool stopped_ = false;
  bool gone_ = false;
  bool executed_ = false;
  uint64_t rss_before_ = 0;
  uint64_t sampled_rss_ = 0;
  std::chrono::nanoseconds sampled_cpu_{0};
  Clock::time_point begin_;
  Clock::time_point next_space_check_;
};

}  // namespace kerf::sandbox
