#include "sandbox/seccomp_filter.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/child_posix.h"

namespace kerf::sandbox {
namespace {

// No honest kernel or compiler makes these: the attempt itself is the finding, and ends the run.
constexpr const char* kForbidden[] = {
    // Other processes: their memory, descriptors and secrets.
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd",
    // Key rings are per user, not per namespace.
    "keyctl", "add_key", "request_key",
    // Large or often broken parts of the kernel.
    "bpf", "userfaultfd",
    // The file tree.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "quotactl",
    "quotactl_fd", "swapon", "swapoff",
    // The machine.
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
    "acct", "syslog", "iopl", "ioperm", "sethostname", "setdomainname", "vhangup",
    // Clocks: a timer could be made to lie.
    "clock_settime", "settimeofday", "clock_adjtime", "adjtimex"};
// Ways into new namespaces; with AllowUserNamespaces they stay open.
constexpr const char* kNamespaceCalls[] = {"unshare", "setns"};

// Libraries try these and do without when refused.
struct Refusal {
  const char* name;
  int error;
};
constexpr Refusal kRefused[] = {
    {"clone3", ENOSYS},   // its flags lie in memory, where a filter cannot look; libc falls back
    {"openat2", ENOSYS},  // the same, for the mode bits
    {"io_uring_setup", ENOSYS},  // would make calls this filter does not see
    {"io_uring_enter", ENOSYS}, {"io_uring_register", ENOSYS},
    {"perf_event_open", EPERM}, {"name_to_handle_at", EOPNOTSUPP},
    {"fanotify_init", EPERM},   {"lookup_dcookie", EPERM},
    {"modify_ldt", EPERM},      {"uselib", ENOSYS},
    {"vserver", ENOSYS}};

constexpr unsigned kNamespaceFlags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                     CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr unsigned kSetIdBits = S_ISUID | S_ISGID;
constexpr uint64_t kLow32 = 0xffffffff;  // the kernel ignores the upper half of these arguments
// The first call that is newer than this list (451 is cachestat, Linux 6.5); numbers are the same
// on every architecture since 424.
constexpr unsigned kFirstUnknown = 451;
constexpr unsigned long kTioclinux = 0x541C;

// Collects rules and remembers the first that failed.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx context) : context_(context) {}

  void Add(uint32_t action, const char* name, std::vector<scmp_arg_cmp> when = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number < 0 || failure_ != 0) return;  // this architecture has no such call
    failure_ = seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(when.size()),
                                      when.data());
  }
  [[nodiscard]] int failure() const { return failure_; }

 private:
  scmp_filter_ctx context_;
  int failure_ = 0;
};

void ForbidNamespaces(Rules& rules, uint32_t forbidden) {
  for (const char* name : kNamespaceCalls) rules.Add(forbidden, name);
  for (unsigned flag = 1; flag != 0; flag <<= 1) {
    if ((kNamespaceFlags & flag) == 0) continue;
    rules.Add(forbidden, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)});
  }
}

// A file of the caller's with the set-user-id bit would lend the caller's rights to anyone who can
// reach it, after the program is long gone.
void ForbidSetId(Rules& rules) {
  const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
  for (unsigned bit = 1; bit <= kSetIdBits; bit <<= 1) {
    if ((kSetIdBits & bit) == 0) continue;
    for (const char* name : {"chmod", "fchmod", "creat", "mkdir", "mknod"}) {
      rules.Add(refuse, name, {SCMP_A1(SCMP_CMP_MASKED_EQ, bit, bit)});
    }
    for (const char* name : {"fchmodat", "mkdirat", "mknodat"}) {
      rules.Add(refuse, name, {SCMP_A2(SCMP_CMP_MASKED_EQ, bit, bit)});
    }
    rules.Add(refuse, "open",
              {SCMP_A2(SCMP_CMP_MASKED_EQ, bit, bit), SCMP_A1(SCMP_CMP_MASKED_EQ, 0100, 0100)});
    rules.Add(refuse, "openat",
              {SCMP_A3(SCMP_CMP_MASKED_EQ, bit, bit), SCMP_A2(SCMP_CMP_MASKED_EQ, 0100, 0100)});
  }
}

void RefuseDeviceNodes(Rules& rules) {
  for (const uint64_t type : {S_IFCHR, S_IFBLK}) {
    rules.Add(SCMP_ACT_ERRNO(EPERM), "mknod", {SCMP_A1(SCMP_CMP_MASKED_EQ, S_IFMT, type)});
    rules.Add(SCMP_ACT_ERRNO(EPERM), "mknodat", {SCMP_A2(SCMP_CMP_MASKED_EQ, S_IFMT, type)});
  }
}

// Families other than these reach parts of the kernel that candidates have no use for, and vsock
// reaches the host of a virtual machine whatever the network namespace says.
void LimitSockets(Rules& rules, bool network_namespace) {
  const uint32_t refuse = SCMP_ACT_ERRNO(EAFNOSUPPORT);
  for (const char* name : {"socket", "socketpair"}) {
    for (uint64_t family = 0; family < 64; ++family) {
      const bool local = family == AF_UNIX || family == AF_UNSPEC;
      const bool internet = family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
      if (local || (network_namespace && internet)) continue;
      rules.Add(refuse, name, {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow32, family)});
    }
  }
}

// personality() can switch off address randomisation and make data executable. The top bit is set
// only in 0xffffffff, which asks without changing anything.
void LimitPersonality(Rules& rules) {
  constexpr uint64_t kTop = 0x80000000;
  for (const uint64_t bit :
       {ADDR_NO_RANDOMIZE, MMAP_PAGE_ZERO, ADDR_COMPAT_LAYOUT, READ_IMPLIES_EXEC, ADDR_LIMIT_3GB}) {
    rules.Add(SCMP_ACT_ERRNO(EPERM), "personality", {SCMP_A0(SCMP_CMP_MASKED_EQ, kTop | bit, bit)});
  }
}

void AddRules(Rules& rules, const FilterOptions& options) {
  const uint32_t forbidden = options.listener ? SCMP_ACT_NOTIFY : SCMP_ACT_KILL_PROCESS;
  for (const char* name : kForbidden) rules.Add(forbidden, name);
  for (const Refusal& refusal : kRefused) {
    rules.Add(SCMP_ACT_ERRNO(static_cast<unsigned>(refusal.error)), refusal.name);
  }
  if (!options.user_namespaces) ForbidNamespaces(rules, forbidden);
  if (!options.counted_memory) {
    for (const char* name : {"memfd_create", "memfd_secret", "shmget"}) {
      rules.Add(SCMP_ACT_ERRNO(ENOSYS), name);
    }
  }
  ForbidSetId(rules);
  RefuseDeviceNodes(rules);
  LimitSockets(rules, options.network_namespace);
  LimitPersonality(rules);
  // Typing into the terminal that kerf was started from.
  for (const uint64_t request : {uint64_t{TIOCSTI}, uint64_t{kTioclinux}}) {
    rules.Add(forbidden, "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow32, request)});
  }
}

// libseccomp 2.5 can only write the program to a descriptor.
Result<std::vector<sock_filter>> Export(scmp_filter_ctx context) {
  const Fd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file.open()) return ErrnoError("create", "a memory file", errno);
  const int failure = seccomp_export_bpf(context, file.get());
  if (failure != 0) return ErrnoError("export", "the system call filter", -failure);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::vector<sock_filter> filter(static_cast<size_t>(size) / sizeof(sock_filter));
  if (::pread(file.get(), filter.data(), static_cast<size_t>(size), 0) != size) {
    return ErrnoError("read", "the system call filter", errno);
  }
  return filter;
}

}  // namespace

Result<std::vector<sock_filter>> BuildFilter(const FilterOptions& options) {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> context(seccomp_init(SCMP_ACT_ALLOW),
                                                                 seccomp_release);
  if (context == nullptr) return Unavailable("libseccomp does not know this machine");
  // Calls of another architecture (int 0x80 on x86-64) have other numbers: none is honest.
  seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  Rules rules(context.get());
  AddRules(rules, options);
  if (rules.failure() != 0) {
    return ErrnoError("build", "the system call filter", -rules.failure());
  }
  KERF_ASSIGN_OR_RETURN(std::vector<sock_filter> filter, Export(context.get()));
  const sock_filter younger[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstUnknown, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  filter.insert(filter.begin(), std::begin(younger), std::end(younger));
  return filter;
}

std::string SyscallName(int number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  std::string text = name == nullptr ? std::to_string(number) : name;
  std::free(name);  // NOLINT: allocated by libseccomp with malloc
  return text;
}

}  // namespace kerf::sandbox
