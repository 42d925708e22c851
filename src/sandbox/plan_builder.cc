#include "sandbox/plan_builder.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "sandbox/landlock_linux.h"
#include "sandbox/seccomp_filter.h"

namespace kerf::sandbox {
namespace {

using Kind = ViewStep::Kind;

constexpr uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr uint64_t kWritable = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
// Writing to a device through a read-only mount works; changing its mode does not.
constexpr uint64_t kDevice = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

// Collects steps; makes each folder above a path once.
class View {
 public:
  void Add(Kind kind, const std::string& inside, const std::string& from, uint64_t attributes) {
    for (size_t at = inside.find('/', 1); at != std::string::npos; at = inside.find('/', at + 1)) {
      Folder(inside.substr(0, at));
    }
    steps_.push_back({kind, inside.substr(1), from, attributes});
  }

  void Folder(const std::string& inside) {
    if (folders_.insert(inside).second) Add(Kind::kFolder, inside, "", 0);
  }

  Status Bind(const std::string& host, const std::string& inside, uint64_t attributes) {
    struct stat info {};
    if (::stat(host.c_str(), &info) != 0) return ErrnoError("let into the sandbox", host, errno);
    if (S_ISDIR(info.st_mode)) {
      Folder(inside);
    } else {
      Add(Kind::kFile, inside, "", 0);  // something to mount upon
    }
    Add(Kind::kBind, inside, host, attributes);
    return {};
  }

  [[nodiscard]] std::vector<ViewStep> Take() && { return std::move(steps_); }

 private:
  std::vector<ViewStep> steps_;
  std::set<std::string> folders_;
};

Status AddDevices(View& view, const Policy& policy, const std::string& tmpfs) {
  for (const char* device :
       {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    KERF_RETURN_IF_ERROR(view.Bind(device, device, kDevice));
  }
  for (const std::string& device : policy.devices()) {
    KERF_RETURN_IF_ERROR(view.Bind(device, device, kDevice));
  }
  view.Add(Kind::kSymlink, "/dev/fd", "/proc/self/fd", 0);
  view.Add(Kind::kSymlink, "/dev/stdin", "/proc/self/fd/0", 0);
  view.Add(Kind::kSymlink, "/dev/stdout", "/proc/self/fd/1", 0);
  view.Add(Kind::kSymlink, "/dev/stderr", "/proc/self/fd/2", 0);
  view.Folder("/dev/shm");
  view.Add(Kind::kTmpfs, "/dev/shm", tmpfs, 0);
  return {};
}

Result<std::vector<ViewStep>> BuildView(const Policy& policy, const Limits& limits) {
  View view;
  for (const struct Symlink& link : policy.links()) {
    view.Add(Kind::kSymlink, link.inside, link.target, 0);
  }
  for (const struct Bind& bind : policy.read_only()) {
    KERF_RETURN_IF_ERROR(view.Bind(bind.host, bind.inside, kReadOnly));
  }
  // So that looking up the own user finds one.
  view.Add(Kind::kFile, "/etc/passwd", "kerf:x:65534:65534::/w:/bin/false\n", 0);
  view.Add(Kind::kFile, "/etc/group", "kerf:x:65534:\n", 0);
  view.Folder("/proc");
  view.Add(Kind::kProc, "/proc", "", 0);
  // Inodes are limited too: empty files cost kernel memory.
  const std::string tmpfs =
      "mode=1777,size=" + std::to_string(limits.tmp_bytes) + ",nr_inodes=65536";
  KERF_RETURN_IF_ERROR(AddDevices(view, policy, tmpfs));
  view.Folder("/tmp");
  view.Add(Kind::kTmpfs, "/tmp", tmpfs, 0);
  for (const struct Bind& bind : policy.writable()) {
    KERF_RETURN_IF_ERROR(view.Bind(bind.host, bind.inside, kWritable | MOUNT_ATTR_NOEXEC));
  }
  view.Folder(kWorkInside);
  if (!policy.work_folder().empty()) {
    const uint64_t noexec = policy.exec_from_work_folder() ? 0 : MOUNT_ATTR_NOEXEC;
    KERF_RETURN_IF_ERROR(view.Bind(policy.work_folder(), kWorkInside, kWritable | noexec));
  }
  return std::move(view).Take();
}

// With namespaces everything in view is there to be read. Without, Landlock alone decides, and
// paths are the host's.
std::vector<LandlockRule> BuildLandlockRules(const Policy& policy, bool namespaces) {
  std::vector<LandlockRule> rules;
  if (namespaces) {
    rules.push_back({"/", kLandlockRead});
    for (const char* path : {"/tmp", "/dev/shm", kWorkInside}) {
      rules.push_back({path, kLandlockRead | kLandlockWrite});
    }
    rules.push_back({"/dev", kLandlockDevice});
  } else {
    for (const struct Bind& bind : policy.read_only()) rules.push_back({bind.host, kLandlockRead});
    for (const struct Symlink& link : policy.links()) rules.push_back({link.inside, kLandlockRead});
    for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"}) {
      rules.push_back({path, kLandlockDevice});
    }
    rules.push_back({"/proc/cpuinfo", kLandlockReadFile});
    rules.push_back({"/proc/meminfo", kLandlockReadFile});
    if (!policy.work_folder().empty()) {
      rules.push_back({policy.work_folder(), kLandlockRead | kLandlockWrite});
    }
  }
  for (const struct Bind& bind : policy.writable()) {
    rules.push_back({namespaces ? bind.inside : bind.host, kLandlockRead | kLandlockWrite});
  }
  for (const std::string& device : policy.devices()) rules.push_back({device, kLandlockDevice});
  // NVIDIA's driver names its threads through /proc/self/task/*/comm and gives up when it cannot.
  // The program may then write what the kernel lets it write of its own processes; it sees no
  // others.
  if (!policy.devices().empty()) {
    rules.push_back({"/proc", kLandlockRead | kLandlockWriteFile | kLandlockTruncate});
  }
  return rules;
}

// Since 5.14 the count is per user namespace; before, it would include the caller's other
// processes.
bool CountsProcessesPerNamespace() {
  utsname name{};
  int major = 0;
  int minor = 0;
  if (::uname(&name) != 0) return false;
  char* end = nullptr;
  major = static_cast<int>(std::strtol(name.release, &end, 10));
  if (*end == '.') minor = static_cast<int>(std::strtol(end + 1, nullptr, 10));
  return major > 5 || (major == 5 && minor >= 14);
}

std::vector<std::pair<int, rlimit>> BuildRlimits(const Limits& limits, const SandboxLevel& level) {
  std::vector<std::pair<int, rlimit>> list;
  const auto add = [&list](int resource, uint64_t soft, uint64_t hard) {
    list.push_back({resource, rlimit{soft, hard}});
  };
  // 1, not 0: only that keeps the kernel from handing the dump to a program of the host
  // (core_pattern with a pipe).
  add(RLIMIT_CORE, 1, 1);
  const auto cpu = static_cast<uint64_t>((limits.cpu_time.count() + 999) / 1000);
  add(RLIMIT_CPU, cpu, cpu + 1);
  add(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
  add(RLIMIT_NOFILE, limits.open_files, limits.open_files);
  add(RLIMIT_MEMLOCK, 8 << 20, 8 << 20);
  add(RLIMIT_MSGQUEUE, 0, 0);
  add(RLIMIT_RTPRIO, 0, 0);
  if (limits.address_space_bytes != 0) {
    add(RLIMIT_AS, limits.address_space_bytes, limits.address_space_bytes);
  }
  // A floor for when the watchdog is too slow; above the limit, so that it can see the limit
  // passed.
  if (!level.has(Layer::kCgroupMemory)) {
    const uint64_t data = limits.memory_bytes + limits.memory_bytes / 8;
    add(RLIMIT_DATA, data, data);
  }
  if (level.has(Layer::kUserNamespace) && CountsProcessesPerNamespace()) {
    add(RLIMIT_NPROC, limits.processes + 8, limits.processes + 8);
  }
  return list;
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Without a mount namespace the program lies where the host has it.
std::string HostPath(const Policy& policy, const std::string& inside) {
  for (const struct Bind& bind : policy.read_only()) {
    if (inside == bind.inside) return bind.host;
    if (inside.rfind(bind.inside + "/", 0) == 0)
      return bind.host + inside.substr(bind.inside.size());
  }
  const std::string work = std::string(kWorkInside) + "/";
  if (inside.rfind(work, 0) == 0) return policy.work_folder() + inside.substr(work.size() - 1);
  return inside;
}

Status AddFilters(LaunchPlan& plan, const Policy& policy, const SandboxLevel& level) {
  FilterOptions options;
  options.network_namespace = plan.namespaces;
  options.user_namespaces = policy.user_namespaces();
  options.counted_memory = level.has(Layer::kCgroupMemory);
  Result<std::vector<sock_filter>> filter = BuildFilter(options);
  if (filter.ok()) plan.filter = *std::move(filter);  // else: a kernel before 5.0
  options.listener = false;
  KERF_ASSIGN_OR_RETURN(plan.filter_without_listener, BuildFilter(options));
  return {};
}

}  // namespace

ProgramText MakeProgramText(const Policy& policy, const std::vector<std::string>& argv) {
  ProgramText text{argv, {}};
  for (const auto& [name, value] : policy.environment()) {
    text.environment.push_back(name + "=" + value);
  }
  return text;
}

Result<LaunchPlan> BuildPlan(const Policy& policy, const Limits& limits, const SandboxLevel& level,
                             const ProgramText& text) {
  LaunchPlan plan;
  plan.namespaces = level.has_namespaces();
  plan.user_namespace = level.has(Layer::kUserNamespace);
  plan.cgroup_namespace = level.has(Layer::kCgroupNamespace);
  plan.drop_privileges = level.has(Layer::kNoNewPrivileges);
  plan.landlock_abi = level.has(Layer::kLandlock) ? LandlockAbi() : 0;
  plan.forbid_user_namespaces = !policy.user_namespaces();
  plan.caller_uid = ::geteuid();
  plan.caller_gid = ::getegid();
  if (plan.namespaces) {
    KERF_ASSIGN_OR_RETURN(plan.view, BuildView(policy, limits));
    plan.sources.assign(plan.view.size(), -1);
  }
  plan.landlock_rules = BuildLandlockRules(policy, plan.namespaces);
  plan.rlimits = BuildRlimits(limits, level);
  if (level.has(Layer::kSeccomp)) KERF_RETURN_IF_ERROR(AddFilters(plan, policy, level));
  if (!text.argv.empty()) {
    plan.program = plan.namespaces ? text.argv[0] : HostPath(policy, text.argv[0]);
  }
  plan.argv = Pointers(text.argv);
  plan.environment = Pointers(text.environment);
  plan.folder = plan.namespaces ? kWorkInside : policy.work_folder();
  return plan;
}

}  // namespace kerf::sandbox
