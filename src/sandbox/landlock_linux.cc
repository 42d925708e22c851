// Landlock: a second wall around files, sockets and signals that does not depend on namespaces.
// Debian 12's <linux/landlock.h> ends at ABI 2, so the rest is defined here; which of it applies is
// asked at run time.
#include "sandbox/landlock_linux.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/child_linux.h"

namespace kerf::sandbox {
namespace {

struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;  // ABI 4
  uint64_t scoped;              // ABI 6
};

struct __attribute__((packed)) PathBeneathAttr {
  uint64_t allowed_access;
  int32_t parent_fd;
};

constexpr unsigned kCreateRulesetVersion = 1;
constexpr int kRulePathBeneath = 1;
constexpr uint64_t kAllNetwork = 3;  // bind and connect of TCP
constexpr uint64_t kAllScopes = 3;   // abstract sockets and signals of processes outside

size_t AttrSize(int abi) { return abi >= 6 ? 24 : abi >= 4 ? 16 : 8; }

}  // namespace

int LandlockAbi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

uint64_t KnownFileAccess(int abi) {
  const int bits = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;
  return (uint64_t{1} << bits) - 1;
}

int RestrictByLandlock(const LaunchPlan& plan) {
  const uint64_t known = KnownFileAccess(plan.landlock_abi);
  const RulesetAttr attr{known, kAllNetwork, kAllScopes};
  const auto ruleset = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attr, AttrSize(plan.landlock_abi), 0));
  if (ruleset < 0) return errno;
  for (const LandlockRule& rule : plan.landlock_rules) {
    PathBeneathAttr path{rule.access & known, ::open(rule.path.c_str(), O_PATH | O_CLOEXEC)};
    if (path.parent_fd < 0) continue;  // no such file: nothing to allow
    struct stat info {};
    // Rights that make sense on folders only are refused on files.
    if (::fstat(path.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode)) {
      path.allowed_access &= kLandlockFileRights;
    }
    const long added = ::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &path, 0);
    const int saved_errno = errno;
    ::close(path.parent_fd);
    if (added != 0) return saved_errno;
  }
  const long restricted = ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  const int saved_errno = errno;
  ::close(ruleset);
  return restricted == 0 ? 0 : saved_errno;
}

}  // namespace kerf::sandbox
