// Which walls stand around a program. Recorded with every outcome, so that a verdict says how far
// the candidate could be trusted not to have cheated.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace kerf::sandbox {

enum class Layer {
  kUserNamespace,     // whatever it becomes inside, it is nobody outside
  kMountNamespace,    // sees the files of the policy and no others
  kPidNamespace,      // sees no process of the host; dies as a whole
  kNetworkNamespace,  // has no network, and no abstract sockets of the host
  kIpcNamespace,
  kUtsNamespace,
  kCgroupNamespace,
  kNoCapabilities,
  kNoNewPrivileges,  // setuid programs give nothing
  kSeccomp,
  kLandlock,
  kRlimits,
  kCgroupMemory,
  kCgroupPids,
};
constexpr size_t kLayerCount = 14;

// "user_namespace" and so on; stable, part of the JSON output.
const char* LayerName(Layer layer);

struct LayerState {
  bool active = false;
  std::string detail;  // what was found, or why it is not there
};

// A plain value.
class SandboxLevel {
 public:
  [[nodiscard]] const LayerState& operator[](Layer layer) const {
    return layers_[static_cast<size_t>(layer)];
  }
  [[nodiscard]] bool has(Layer layer) const { return (*this)[layer].active; }
  void Set(Layer layer, bool active, std::string detail) {
    layers_[static_cast<size_t>(layer)] = {active, std::move(detail)};
  }
  // All of mount, pid, net, ipc and uts: they are made together or not at all.
  [[nodiscard]] bool has_namespaces() const { return has(Layer::kMountNamespace); }
  // One word for tables: "none", "rlimit", "rlimit+seccomp", "rlimit+ns+seccomp+landlock+cgroup".
  [[nodiscard]] std::string Summary() const;

 private:
  std::array<LayerState, kLayerCount> layers_;
};

}  // namespace kerf::sandbox
