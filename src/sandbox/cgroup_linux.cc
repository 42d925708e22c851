// Hierarchies are told apart by the type of the mounted file system: hybrid machines have both
// layouts, and folders of the right name with nothing behind them. docs/sandbox.md, "Cgroups".
#include "sandbox/cgroup_linux.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/child_posix.h"

namespace kerf::sandbox {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";
constexpr const char* kGroupPrefix = "kerf-";

bool IsType(const std::string& path, long magic) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && info.f_type == magic;
}

std::string ReadSmall(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t size = file.open() ? ::read(file.get(), text, sizeof text) : 0;
  return size <= 0 ? "" : std::string(text, static_cast<size_t>(size));
}

bool WriteSmall(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.open() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool HasWord(const std::string& text, std::string_view word) {
  return (" " + text).find(" " + std::string(word)) != std::string::npos;
}

// The number after `key` in a file of "key number" lines.
uint64_t Counter(const std::string& path, const std::string& key) {
  const std::string text = "\n" + ReadSmall(path);
  const size_t at = text.find("\n" + key + " ");
  return at == std::string::npos ? 0
                                 : std::strtoull(text.c_str() + at + key.size() + 2, nullptr, 10);
}

// Our own group in the hierarchy of `controller` ("" for v2), from lines "4:memory:/path".
std::string OwnGroup(const std::string& controller) {
  const std::string text = ReadSmall("/proc/self/cgroup");
  const std::string key = ":" + controller + ":";
  const size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  const std::string path = text.substr(begin, text.find('\n', begin) - begin);
  return path == "/" ? "" : path;
}

std::string NewName() {
  static std::atomic<int> count{0};  // makes names unique within the process, nothing else
  return kGroupPrefix + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

void RemoveGroup(const std::string& path) {
  // Processes that were killed leave the group a moment after they are gone.
  for (int i = 0; i < 200 && ::rmdir(path.c_str()) != 0 && errno == EBUSY; ++i) ::usleep(1000);
}

// Groups of a kerf that was killed. Only empty ones can be removed at all.
void RemoveStale(const std::string& root) {
  DIR* dir = ::opendir(root.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) {
    if (std::strncmp(entry->d_name, kGroupPrefix, std::strlen(kGroupPrefix)) != 0) continue;
    const long owner = std::strtol(entry->d_name + std::strlen(kGroupPrefix), nullptr, 10);
    if (owner > 0 && ::kill(static_cast<pid_t>(owner), 0) != 0 && errno == ESRCH) {
      ::rmdir((root + "/" + entry->d_name).c_str());
    }
  }
  ::closedir(dir);
}

// Whether a child of `root` gets the file that sets the limit.
bool CanLimit(const std::string& root, const std::string& file, std::string& reason) {
  const std::string path = root + "/" + NewName();
  if (::mkdir(path.c_str(), 0755) != 0) {
    reason = "cannot make a group in " + root + ": " + std::strerror(errno);
    return false;
  }
  const bool there = ::access((path + "/" + file).c_str(), W_OK) == 0;
  ::rmdir(path.c_str());
  if (!there) reason = "groups in " + root + " have no " + file;
  return there;
}

// A group with processes in it cannot hand controllers to children, so that our own group will do
// only where it is the root; its parent is the next best.
void FindV2(CgroupRoots& roots) {
  const std::string own = kRoot + OwnGroup("");
  for (const std::string& root : {own, own.substr(0, own.rfind('/'))}) {
    if (root.size() < std::strlen(kRoot)) break;
    const std::string enabled = ReadSmall(root + "/cgroup.subtree_control");
    if (!HasWord(enabled, "memory") || !HasWord(enabled, "pids")) {
      WriteSmall(root + "/cgroup.subtree_control", "+memory +pids");
    }
    if (!CanLimit(root, "memory.max", roots.memory_reason)) continue;
    RemoveStale(root);
    roots.memory = root;
    if (CanLimit(root, "pids.max", roots.pids_reason)) roots.pids = root;
    return;
  }
  roots.pids_reason = roots.memory_reason;
}

void FindV1(const std::string& controller, const std::string& file, std::string& root,
            std::string& reason) {
  const std::string mounted = std::string(kRoot) + "/" + controller;
  if (!IsType(mounted, CGROUP_SUPER_MAGIC)) {
    reason = "no " + controller + " controller is mounted";
    return;
  }
  const std::string own = mounted + OwnGroup(controller);
  if (!CanLimit(own, file, reason)) return;
  RemoveStale(own);
  root = own;
}

}  // namespace

CgroupRoots FindCgroups() {
  CgroupRoots roots;
  roots.v2 = IsType(kRoot, CGROUP2_SUPER_MAGIC);
  if (roots.v2) {
    FindV2(roots);
  } else {
    FindV1("memory", "memory.limit_in_bytes", roots.memory, roots.memory_reason);
    FindV1("pids", "pids.max", roots.pids, roots.pids_reason);
  }
  return roots;
}

std::unique_ptr<Cgroup> Cgroup::Create(const CgroupRoots& roots, uint64_t memory_bytes,
                                       uint64_t processes) {
  const std::string name = "/" + NewName();
  std::string memory = roots.memory.empty() ? "" : roots.memory + name;
  std::string pids = roots.pids.empty() ? "" : roots.pids + name;
  if (!memory.empty() && ::mkdir(memory.c_str(), 0755) != 0) memory.clear();
  if (!pids.empty() && pids != memory && ::mkdir(pids.c_str(), 0755) != 0) pids.clear();
  if (memory.empty() && pids.empty()) return nullptr;
  auto group = std::unique_ptr<Cgroup>(new Cgroup(roots.v2, memory, pids));
  const std::string bytes = std::to_string(memory_bytes);
  bool done = true;
  if (!memory.empty() && roots.v2) {
    done = WriteSmall(memory + "/memory.max", bytes);
    WriteSmall(memory + "/memory.swap.max", "0");
  } else if (!memory.empty()) {
    done = WriteSmall(memory + "/memory.limit_in_bytes", bytes);
    WriteSmall(memory + "/memory.memsw.limit_in_bytes", bytes);  // only there with swap accounting
  }
  // One more for init.
  if (!pids.empty()) done = WriteSmall(pids + "/pids.max", std::to_string(processes + 1)) && done;
  return done ? std::move(group) : nullptr;
}

Cgroup::~Cgroup() {
  if (!memory_.empty()) RemoveGroup(memory_);
  if (!pids_.empty() && pids_ != memory_) RemoveGroup(pids_);
}

bool Cgroup::Add(pid_t pid) const {
  for (const std::string* path : {&memory_, &pids_}) {
    if (!path->empty() && !WriteSmall(*path + "/cgroup.procs", std::to_string(pid))) return false;
  }
  return true;
}

bool Cgroup::HitMemory() const {
  if (memory_.empty()) return false;
  return Counter(memory_ + (v2_ ? "/memory.events" : "/memory.oom_control"), "oom_kill") > 0;
}

bool Cgroup::HitPids() const {
  return !pids_.empty() && Counter(pids_ + "/pids.events", "max") > 0;
}

}  // namespace kerf::sandbox
