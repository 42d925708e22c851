#include "loop/verify/process_view.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kerf::verify {
namespace {

// The fields of a stat line after the name, which stands in parentheses and may hold any
// character: state, parent, …
std::istringstream AfterName(const std::filesystem::path& stat) {
  std::ifstream file(stat);
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  return std::istringstream(end == std::string::npos ? "" : line.substr(end + 1));
}

std::filesystem::path Folder(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::vector<std::filesystem::path> Threads(pid_t pid) {
  std::vector<std::filesystem::path> threads;
  std::error_code error;
  std::filesystem::directory_iterator at(Folder(pid) / "task", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    threads.push_back(at->path());
  }
  return threads;
}

pid_t Parent(pid_t pid) {
  std::string state;
  pid_t parent = 0;
  AfterName(Folder(pid) / "stat") >> state >> parent;
  return parent;
}

int CountDescendants(pid_t pid) {
  int count = 0;
  for (const auto& thread : Threads(pid)) {
    std::ifstream file(thread / "children");
    for (pid_t child = 0; file >> child;) count += 1 + CountDescendants(child);
  }
  return count;
}

}  // namespace

std::chrono::nanoseconds CpuTime(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool IsBusy(pid_t pid) {
  const auto threads = Threads(pid);
  return std::any_of(threads.begin(), threads.end(), [](const auto& thread) {
    std::string state;
    AfterName(thread / "stat") >> state;
    return state == "R";
  });
}

int CountOthers(pid_t pid) {
  constexpr int kDeepest = 8;
  int above = 0;
  pid_t top = pid;
  for (pid_t next = Parent(top); next != ::getpid(); next = Parent(top), ++above) {
    if (next <= 1 || above == kDeepest) return 0;  // it has gone, or is none of ours
    top = next;
  }
  return CountDescendants(top) - above;
}

std::vector<std::string> ExecutableFiles(pid_t pid) {
  std::vector<std::string> names;
  std::ifstream maps(Folder(pid) / "maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range;
    std::string mode;
    fields >> range >> mode;
    const size_t path = line.find('/');
    if (mode.size() < 3 || mode[2] != 'x' || path == std::string::npos) continue;
    names.push_back(line.substr(line.rfind('/') + 1));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace kerf::verify
