// What a process and all its descendants use, from /proc, without their help.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace kerf::sandbox {

struct TreeUsage {
  uint64_t tasks = 0;  // processes and threads, without the root
  // Whether there is nothing but one process that has not executed a program yet: a copy of kerf.
  bool only_a_copy = false;
  uint64_t rss_bytes = 0;
  uint64_t largest_rss_bytes = 0;   // of one process
  std::chrono::nanoseconds cpu{0};  // with that of descendants already reaped
};

// Looks at `root`'s descendants; `root` itself counts only for the CPU time of those it reaped.
// Processes that come or go meanwhile may be missed: a sample, not an audit.
TreeUsage SampleTree(pid_t root);

// Of one process, now.
uint64_t ResidentBytes(pid_t pid);

// All descendants of `root`, without itself.
std::vector<pid_t> Descendants(pid_t root);

// SIGKILL to all descendants until none is left. For sandboxes without a pid namespace; a process
// that forks faster than we look could in principle go on for long, hence the end after one second.
// False when some were still there.
bool KillDescendants(pid_t root);

}  // namespace kerf::sandbox
