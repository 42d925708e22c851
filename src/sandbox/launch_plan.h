// Everything a child needs between clone and exec, laid out before the clone. Afterwards only
// async-signal-safe calls are allowed (another thread may have held any lock at that moment), so
// the child reads this and allocates nothing.
#pragma once

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kerf::sandbox {

// One step of building the file tree the program will see; paths are relative to its root.
struct ViewStep {
  enum class Kind { kFolder, kFile, kSymlink, kBind, kTmpfs, kProc };
  Kind kind;
  std::string path;
  std::string from;     // kBind: host path; kSymlink: target; kFile: content; kTmpfs: options
  uint64_t attributes;  // kBind, kTmpfs: MOUNT_ATTR_…
};

struct LandlockRule {
  std::string path;  // as the program sees it
  uint64_t access;   // LANDLOCK_ACCESS_FS_…; cut to what the kernel's ABI knows
};

struct LaunchPlan {
  // Which layers to build.
  bool namespaces = false;
  bool user_namespace = false;
  bool cgroup_namespace = false;
  bool drop_privileges = false;  // capabilities, no_new_privs; root becomes nobody
  int landlock_abi = 0;          // 0: none
  // Empty: none. The first asks for a listener; the second is for where that is refused, because
  // kerf itself runs in a container that has one.
  std::vector<sock_filter> filter;
  std::vector<sock_filter> filter_without_listener;
  bool forbid_user_namespaces = true;

  uid_t caller_uid = 0;
  gid_t caller_gid = 0;

  std::vector<ViewStep> view;
  std::vector<int> sources;  // one per ViewStep; filled by the child
  std::vector<LandlockRule> landlock_rules;
  std::vector<std::pair<int, rlimit>> rlimits;

  // Empty: build the layers and stop there; how a machine is probed.
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::string folder;  // where the program starts, as it sees it

  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  int control_fd = -1;  // a socket to the supervisor
};

// What the child was doing when it failed; the layer or step to name.
enum class Stage {
  kNone,
  kStdio,
  kIdMap,
  kMountPrivate,
  kOpenSource,  // index: ViewStep
  kMountRoot,
  kViewStep,  // index: ViewStep
  kPivot,
  kHostName,
  kDropUser,
  kUserNamespace,
  kForbidUserNamespaces,
  kCapabilities,
  kNoNewPrivileges,
  kFork,
  kFolder,
  kRlimit,  // index: rlimits
  kLandlock,
  kSeccomp,
  kExec,
};

// Child to supervisor, one packet each.
struct Report {
  enum class Kind { kReady, kFailed, kEnded };
  Kind kind = Kind::kFailed;
  Stage stage = Stage::kNone;
  int saved_errno = 0;
  int index = 0;
  int wait_status = 0;  // kEnded
  rusage usage{};       // kEnded
};
// kReady carries descriptors in this order; the listener is absent when the filter has none.
struct ReadyFds {
  int tmp = -1;
  int shm = -1;
  int listener = -1;
};

constexpr uid_t kInsideId = 65534;

}  // namespace kerf::sandbox
