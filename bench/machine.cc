#include "machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kerf::bench {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

bool IsInside(const std::string& path, const std::string& mount) {
  if (mount == "/") return true;
  return path.starts_with(mount) && (path.size() == mount.size() || path[mount.size()] == '/');
}

// Its type and options: whether a disk is mounted with `data=ordered` or is a tmpfs decides what a
// sync costs.
std::string FileSystemOf(const std::string& path) {
  char real[PATH_MAX] = "";
  if (::realpath(path.c_str(), real) == nullptr) return "unknown";
  std::ifstream file("/proc/self/mounts");
  std::string best = "unknown";
  size_t best_length = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string device, mount, type, options;
    fields >> device >> mount >> type >> options;
    if (mount.size() >= best_length && IsInside(real, mount)) {
      best_length = mount.size();
      best = type + " (" + options + ")";
    }
  }
  return best;
}

}  // namespace

std::string MachineContext(const std::string& path) {
  utsname kernel{};
  ::uname(&kernel);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  const unsigned long long gib =
      (static_cast<unsigned long long>(memory.totalram) * memory.mem_unit) >> 30;
  std::ostringstream text;
  text << "cpu          " << CpuModel() << "\ncores        " << ::sysconf(_SC_NPROCESSORS_ONLN)
       << "\nmemory       " << gib << " GiB\nkernel       " << kernel.sysname << " "
       << kernel.release << " " << kernel.machine << "\nfile system  " << FileSystemOf(path)
       << "\n";
  return text.str();
}

}  // namespace kerf::bench
