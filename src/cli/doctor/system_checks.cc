#include <linux/magic.h>

#include "cli/doctor/check.h"

namespace kerf::cli {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

std::vector<Finding> CheckNamespaces(Machine& machine) {
  Finding finding{
      "user namespaces", Health::kMissing, "unshare --user is refused",
      "isolating candidates without root",
      "sysctl -w user.max_user_namespaces=15000 "
      "kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"};
  if (machine.FindPrograms("unshare").empty()) {
    finding.health = Health::kLimited;
    finding.detail = "cannot be tried: unshare is not in PATH";
    finding.install = "apt-get install util-linux";
    return {finding};
  }
  const std::string done =
      OutputOf(machine, {"unshare", "--user", "--map-root-user", "--net", "echo", "inside"});
  if (done == "inside\n") {
    finding.health = Health::kOk;
    finding.detail = "user and network namespaces can be made";
  }
  return {finding};
}

std::vector<Finding> CheckLandlock(Machine& machine) {
  const int abi = machine.LandlockAbi();
  return {{"Landlock", abi > 0 ? Health::kOk : Health::kMissing,
           abi > 0 ? "ABI " + std::to_string(abi) : "the kernel does not offer it",
           "a second wall around candidates: which files they may open",
           "a kernel of 5.13 or later with landlock in the lsm= list"}};
}

// By the type of the mounted file systems, not by paths: hybrid set-ups have both layouts.
std::vector<Finding> CheckCgroups(Machine& machine) {
  Finding finding{"cgroups", Health::kLimited,
                  "none is mounted; resource limits fall back to rlimit",
                  "limits of memory and processes for a whole candidate",
                  "mount cgroup2, or run under systemd"};
  const std::string root = "/sys/fs/cgroup";
  const uint64_t magic = machine.FileSystemMagic(root);
  if (magic == CGROUP2_SUPER_MAGIC) {
    const std::string controllers = FirstLine(machine.Read(root + "/cgroup.controllers"));
    finding.health = Health::kOk;
    finding.detail = "v2: " + (controllers.empty() ? "no controllers" : controllers);
    return {finding};
  }
  std::string controllers;
  for (const char* name : {"memory", "pids", "cpu"}) {
    if (machine.FileSystemMagic(root + "/" + name) != CGROUP_SUPER_MAGIC) continue;
    controllers += (controllers.empty() ? "" : " ") + std::string(name);
  }
  if (!controllers.empty()) {
    finding.health = Health::kOk;
    finding.detail = "v1: " + controllers;
  }
  return {finding};
}

std::string TempDir(Machine& machine) { return machine.Variable("TMPDIR").value_or("/tmp"); }

Finding DirectoryFinding(Machine& machine, const std::string& name, const std::string& dir,
                         const std::string& enables, const std::string& install, bool required) {
  Finding finding{name, Health::kOk, dir, enables, install, required};
  if (const Status status = machine.TryToWrite(dir); !status.ok()) {
    finding.health = Health::kMissing;
    finding.detail = status.error().message;
  }
  return finding;
}

std::vector<Finding> CheckTempDir(Machine& machine) {
  return {DirectoryFinding(machine, "temporary directory", TempDir(machine),
                           "building and running candidates",
                           "export TMPDIR=DIR with a directory you may write to",
                           /*required=*/true)};
}

std::vector<Finding> CheckWorkDir(Machine& machine) {
  return {DirectoryFinding(machine, "current directory", ".", "recording runs here",
                           "cd to a directory you may write to, or give --log-dir DIR",
                           /*required=*/false)};
}

std::vector<Finding> CheckDisk(Machine& machine) {
  Finding finding{"disk space", Health::kOk, "", "keeping traces and compiled candidates",
                  "free some space, or point TMPDIR and --log-dir to a larger disk"};
  for (const std::string& dir : {std::string("."), TempDir(machine)}) {
    const auto free = machine.FreeBytes(dir);
    if (!free.has_value()) continue;
    // A torch wheel or a night of traces takes about this much.
    if (*free < 2 * kGiB) finding.health = Health::kLimited;
    finding.detail += (finding.detail.empty() ? "" : ", ") + std::to_string(*free / kGiB) +
                      " GiB free in " + (dir == "." ? "the current directory" : dir);
  }
  return {finding};
}

}  // namespace

std::vector<Check> SystemChecks() {
  return {CheckNamespaces, CheckLandlock, CheckCgroups, CheckTempDir, CheckWorkDir, CheckDisk};
}

}  // namespace kerf::cli
