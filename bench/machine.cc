#include "machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include <ctime>
#include <fstream>
#include <thread>

namespace kerf::bench {
namespace {

std::string CpuModel() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string FileSystemName(const std::string& dir) {
  struct statfs info {};
  if (::statfs(dir.c_str(), &info) != 0) return "unknown file system";
  switch (static_cast<unsigned long>(info.f_type)) {
    case 0xEF53:
      return "ext4";
    case 0x01021994:
      return "tmpfs";
    case 0x58465342:
      return "xfs";
    case 0x9123683E:
      return "btrfs";
    case 0x794C7630:
      return "overlayfs";
    default:
      return "file system 0x" + std::to_string(info.f_type);
  }
}

}  // namespace

std::string MachineContext(const std::string& dir) {
  utsname kernel{};
  ::uname(&kernel);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return std::string("machine: ") + CpuModel() + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores, " +
         std::to_string(memory.totalram * memory.mem_unit >> 30) + " GiB, " + kernel.sysname + " " +
         kernel.release + ", " + FileSystemName(dir) + ", " + date;
}

}  // namespace kerf::bench
