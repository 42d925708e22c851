#include "sandbox/probe.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/landlock_linux.h"
#include "sandbox/launch_linux.h"
#include "sandbox/plan_builder.h"
#include "sandbox/supervisor_linux.h"

namespace kerf::sandbox {
namespace {

constexpr Layer kNamespaceLayers[] = {Layer::kMountNamespace, Layer::kPidNamespace,
                                      Layer::kNetworkNamespace, Layer::kIpcNamespace,
                                      Layer::kUtsNamespace};

// Builds all namespaces of `level` around nothing. Empty, or why it did not work.
std::string TryNamespaces(const SandboxLevel& level) {
  Limits limits;
  limits.wall_time = std::chrono::seconds(5);
  const ProgramText nothing;
  Result<LaunchPlan> plan = BuildPlan(Policy(), limits, level, nothing);
  if (!plan.ok()) return plan.error().message;
  const Result<Fd> input = MakeInput("");
  if (!input.ok()) return input.error().message;
  Result<Launched> launched = Launch(*plan, input->get());
  if (!launched.ok()) return launched.error().message;
  const Outcome outcome = Supervisor(*plan, limits, {}, nullptr, *std::move(launched)).Run();
  if (outcome.succeeded()) return "";
  return outcome.detail.empty() ? "the trial process failed" : outcome.detail;
}

SandboxLevel WithNamespaces(SandboxLevel level, bool user, bool cgroup) {
  for (const Layer layer : kNamespaceLayers) level.Set(layer, true, "");
  level.Set(Layer::kUserNamespace, user, "");
  level.Set(Layer::kCgroupNamespace, cgroup, "");
  return level;
}

// From most to least: with everything; without the cgroup namespace (Linux before 4.6); root also
// without a user namespace (they can be switched off).
void ProbeNamespaces(SandboxLevel& level) {
  const SandboxLevel full = WithNamespaces(level, true, true);
  const std::string why_not_full = TryNamespaces(full);
  if (why_not_full.empty()) {
    level = full;
    return;
  }
  const SandboxLevel plain = WithNamespaces(level, true, false);
  if (TryNamespaces(plain).empty()) {
    level = plain;
    level.Set(Layer::kCgroupNamespace, false, why_not_full);
    return;
  }
  const SandboxLevel no_user = WithNamespaces(level, false, false);
  if (::geteuid() == 0 && TryNamespaces(no_user).empty()) {
    level = no_user;
    level.Set(Layer::kUserNamespace, false, why_not_full);
    level.Set(Layer::kCgroupNamespace, false, why_not_full);
    return;
  }
  for (const Layer layer : kNamespaceLayers) level.Set(layer, false, why_not_full);
  level.Set(Layer::kUserNamespace, false, why_not_full);
  level.Set(Layer::kCgroupNamespace, false, why_not_full);
}

void ProbeSeccomp(SandboxLevel& level) {
  const uint32_t action = SECCOMP_RET_KILL_PROCESS;
  const bool there = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  level.Set(Layer::kSeccomp, there,
            there ? "" : std::string("the kernel refuses filters: ") + std::strerror(errno));
}

SandboxLevel ProbeMachine() {
  SandboxLevel level;
  level.Set(Layer::kRlimits, true, "");
  level.Set(Layer::kNoCapabilities, true, "");
  level.Set(Layer::kNoNewPrivileges, true, "");
  ProbeSeccomp(level);
  ProbeNamespaces(level);
  const int abi = LandlockAbi();
  level.Set(Layer::kLandlock, abi > 0,
            abi > 0 ? "ABI " + std::to_string(abi) : "the kernel has no Landlock, or it is off");
  const CgroupRoots& roots = UsableCgroups();
  level.Set(Layer::kCgroupMemory, !roots.memory.empty(),
            roots.memory.empty() ? roots.memory_reason
            : roots.v2           ? "v2"
                                 : "v1");
  level.Set(Layer::kCgroupPids, !roots.pids.empty(),
            roots.pids.empty() ? roots.pids_reason
            : roots.v2         ? "v2"
                               : "v1");
  return level;
}

}  // namespace

const SandboxLevel& Probe() {
  static const SandboxLevel level = ProbeMachine();
  return level;
}

const CgroupRoots& UsableCgroups() {
  static const CgroupRoots roots = FindCgroups();
  return roots;
}

}  // namespace kerf::sandbox
