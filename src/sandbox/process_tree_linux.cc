#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/child_posix.h"
#include "sandbox/process_tree.h"

namespace kerf::sandbox {
namespace {

std::string ReadProc(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while (file.open() && (size = ::read(file.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

// Children are listed under the thread that made them.
void AddChildren(pid_t pid, std::vector<pid_t>& out) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  DIR* dir = ::opendir(tasks.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    const std::string list = ReadProc(tasks + "/" + entry->d_name + "/children");
    const char* at = list.c_str();
    char* end = nullptr;
    for (long child = 0; (child = std::strtol(at, &end, 10)) > 0; at = end) {
      out.push_back(static_cast<pid_t>(child));
    }
  }
  ::closedir(dir);
}

struct Stat {
  uint64_t flags = 0;
  uint64_t own_ticks = 0;
  uint64_t reaped_ticks = 0;
  uint64_t threads = 0;
  uint64_t rss_pages = 0;
};

// Fields of /proc/PID/stat after the name, which may itself hold spaces and brackets.
Stat ReadStat(pid_t pid) {
  const std::string text = ReadProc("/proc/" + std::to_string(pid) + "/stat");
  const size_t after_name = text.rfind(')');
  Stat stat;
  if (after_name == std::string::npos || after_name + 3 >= text.size()) return stat;
  const char* at = text.c_str() + after_name + 3;  // the state, field 3
  uint64_t fields[25] = {};
  ++at;
  for (int field = 4; field <= 24; ++field) {
    char* end = nullptr;
    fields[field] = std::strtoull(at, &end, 10);
    at = end;
  }
  stat.flags = fields[9];
  stat.own_ticks = fields[14] + fields[15];
  stat.reaped_ticks = fields[16] + fields[17];
  stat.threads = fields[20];
  stat.rss_pages = fields[24];
  return stat;
}

}  // namespace

std::vector<pid_t> Descendants(pid_t root) {
  std::vector<pid_t> found;
  AddChildren(root, found);
  // A million: a tree that grows while it is walked must not keep us here.
  for (size_t i = 0; i < found.size() && found.size() < 1'000'000; ++i) {
    AddChildren(found[i], found);
  }
  return found;
}

TreeUsage SampleTree(pid_t root) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto ticks_per_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  uint64_t ticks = ReadStat(root).reaped_ticks;
  constexpr uint64_t kForkedNotExecuted = 0x40;  // PF_FORKNOEXEC
  TreeUsage usage;
  const std::vector<pid_t> descendants = Descendants(root);
  for (const pid_t pid : descendants) {
    const Stat stat = ReadStat(pid);
    usage.only_a_copy = descendants.size() == 1 && (stat.flags & kForkedNotExecuted) != 0;
    ticks += stat.own_ticks + stat.reaped_ticks;
    usage.tasks += stat.threads;
    usage.rss_bytes += stat.rss_pages * page;
    usage.largest_rss_bytes = std::max(usage.largest_rss_bytes, stat.rss_pages * page);
  }
  usage.cpu = std::chrono::nanoseconds(ticks * (1'000'000'000 / ticks_per_second));
  return usage;
}

uint64_t ResidentBytes(pid_t pid) {
  return ReadStat(pid).rss_pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool KillDescendants(pid_t root) {
  for (int i = 0; i < 1000; ++i) {
    bool alive = false;
    for (const pid_t pid : Descendants(root)) {
      alive = true;
      ::kill(pid, SIGKILL);
    }
    if (!alive) return true;
    ::usleep(1000);
  }
  return false;
}

}  // namespace kerf::sandbox
