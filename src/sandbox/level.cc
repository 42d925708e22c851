#include "sandbox/level.h"

namespace kerf::sandbox {

const char* LayerName(Layer layer) {
  switch (layer) {
    case Layer::kUserNamespace:
      return "user_namespace";
    case Layer::kMountNamespace:
      return "mount_namespace";
    case Layer::kPidNamespace:
      return "pid_namespace";
    case Layer::kNetworkNamespace:
      return "network_namespace";
    case Layer::kIpcNamespace:
      return "ipc_namespace";
    case Layer::kUtsNamespace:
      return "uts_namespace";
    case Layer::kCgroupNamespace:
      return "cgroup_namespace";
    case Layer::kNoCapabilities:
      return "no_capabilities";
    case Layer::kNoNewPrivileges:
      return "no_new_privileges";
    case Layer::kSeccomp:
      return "seccomp";
    case Layer::kLandlock:
      return "landlock";
    case Layer::kRlimits:
      return "rlimits";
    case Layer::kCgroupMemory:
      return "cgroup_memory";
    case Layer::kCgroupPids:
      return "cgroup_pids";
  }
  return "unknown";
}

std::string SandboxLevel::Summary() const {
  std::string text;
  const auto add = [&text](bool active, const char* word) {
    if (active) text += (text.empty() ? "" : "+") + std::string(word);
  };
  add(has(Layer::kRlimits), "rlimit");
  add(has_namespaces(), "ns");
  add(has(Layer::kSeccomp), "seccomp");
  add(has(Layer::kLandlock), "landlock");
  add(has(Layer::kCgroupMemory) || has(Layer::kCgroupPids), "cgroup");
  return text.empty() ? "none" : text;
}

}  // namespace kerf::sandbox
