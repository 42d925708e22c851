// A control group for one run: a limit on the memory and on the processes of the whole tree, kept
// by the kernel. Works with v2 and with v1 hierarchies, whichever is mounted and writable; ordinary
// users usually have neither.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace kerf::sandbox {

// Where groups can be made; found once per process.
struct CgroupRoots {
  bool v2 = false;
  std::string memory;  // the folder to make a child in; empty: no
  std::string pids;    // with v2 the same folder
  std::string memory_reason;
  std::string pids_reason;
};

// Tries each candidate by making a group and removing it again.
CgroupRoots FindCgroups();

// Removed, with what is left in it killed by then, when it goes.
class Cgroup {
 public:
  // Null when none of the controllers can be used.
  static std::unique_ptr<Cgroup> Create(const CgroupRoots& roots, uint64_t memory_bytes,
                                        uint64_t processes);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  [[nodiscard]] bool Add(pid_t pid) const;
  [[nodiscard]] bool limits_memory() const { return !memory_.empty(); }
  [[nodiscard]] bool limits_pids() const { return !pids_.empty(); }
  // Whether the kernel had to refuse something, so far.
  [[nodiscard]] bool HitMemory() const;
  [[nodiscard]] bool HitPids() const;

 private:
  Cgroup(bool v2, std::string memory, std::string pids)
      : v2_(v2), memory_(std::move(memory)), pids_(std::move(pids)) {}

  const bool v2_;
  const std::string memory_;
  const std::string pids_;
};

}  // namespace kerf::sandbox
