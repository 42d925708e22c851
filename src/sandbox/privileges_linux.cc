// How the program comes to be nobody with no rights.
//
// An ordinary caller makes a user namespace first: inside it the caller is the only user, with
// every capability over the other new namespaces, which are dropped once the walls stand.
//
// Root builds the walls with its own rights, then becomes nobody outside too, and only then enters
// a user namespace. Mapping root itself into the namespace would be shorter and wrong: the kernel
// would still take the program for root wherever it compares user ids instead of asking for
// capabilities, /proc/sys/kernel/core_pattern (a way out) and every file of root's among them.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/child_linux.h"

namespace kerf::sandbox {
namespace {

bool WriteText(const char* path, const char* text, size_t size) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text, size) == static_cast<ssize_t>(size);
  const int saved_errno = errno;
  ::close(fd);
  errno = saved_errno;
  return done;
}

char* AppendNumber(char* out, unsigned long value) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (count > 0) *out++ = digits[--count];
  return out;
}

// "65534 OUTSIDE 1"
bool WriteMap(const char* path, unsigned long outside) {
  char text[64];
  char* end = AppendNumber(text, kInsideId);
  *end++ = ' ';
  end = AppendNumber(end, outside);
  std::memcpy(end, " 1\n", 3);
  return WriteText(path, text, static_cast<size_t>(end + 3 - text));
}

void MapIds(const LaunchPlan& plan, unsigned long uid, unsigned long gid) {
  // Without this the group map is refused; it also keeps the program from dropping groups that
  // deny it something.
  if (!WriteText("/proc/self/setgroups", "deny", 4) && errno != ENOENT) {
    FailChild(plan, Stage::kIdMap);
  }
  if (!WriteMap("/proc/self/uid_map", uid) || !WriteMap("/proc/self/gid_map", gid)) {
    FailChild(plan, Stage::kIdMap);
  }
}

void DropBoundingSet() {
  for (unsigned long capability = 0; capability < 64; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

}  // namespace

void WriteIdMaps(const LaunchPlan& plan) { MapIds(plan, plan.caller_uid, plan.caller_gid); }

void BecomeNobody(const LaunchPlan& plan) {
  // Only while we have the capability to; a user namespace would give us a full set again.
  DropBoundingSet();
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
      ::syscall(SYS_setresgid, kInsideId, kInsideId, kInsideId) != 0 ||
      ::syscall(SYS_setresuid, kInsideId, kInsideId, kInsideId) != 0) {
    FailChild(plan, Stage::kDropUser);
  }
  if (!plan.namespaces || !plan.user_namespace) return;
  // The change of ids made our own /proc files root's. No program runs yet that could use this.
  ::prctl(PR_SET_DUMPABLE, 1);
  if (::unshare(CLONE_NEWUSER) != 0) FailChild(plan, Stage::kUserNamespace);
  MapIds(plan, kInsideId, kInsideId);
}

void ForbidUserNamespaces(const LaunchPlan& plan) {
  // Counted for our namespace alone. The program lacks the capability to raise it again.
  if (!WriteText("/proc/sys/user/max_user_namespaces", "0", 1)) {
    FailChild(plan, Stage::kForbidUserNamespaces);
  }
}

void DropCapabilities(const LaunchPlan& plan) {
  // Even a process that became uid 0 would get no capabilities by it. Needs CAP_SETPCAP, which an
  // ordinary caller without namespaces lacks; it then has no capabilities to lose either.
  ::prctl(PR_SET_SECUREBITS,
          SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
              SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED,
          0, 0, 0);
  DropBoundingSet();
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0) FailChild(plan, Stage::kCapabilities);
}

}  // namespace kerf::sandbox
