// A cpu device is a slot: some processors that one candidate gets for itself. Processors that the
// affinity mask or the cgroup takes away are not there for us, and a slot on them would make two
// measurements share a core.
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>

#include "device/probe.h"
#include "device/text_scan.h"

namespace kerf::device {
namespace {

constexpr const char* kSlotVariable = "KERF_CPU_SLOT_THREADS";

std::vector<int> Affinity() {
  // Machines with more processors than cpu_set_t holds need a larger mask; the kernel says EINVAL
  // until it is large enough.
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(size));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(size));
    std::vector<int> cpus;
    const bool known = ::sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; known && cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (known) return cpus;
  }
  return {0};
}

// The folder of our cgroup for `controller` ("" for version 2), from /proc/self/cgroup.
std::optional<std::string> CgroupPath(std::string_view cgroups, std::string_view controller) {
  for (const std::string_view line : Split(cgroups, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::vector<std::string_view> names =
        Split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(names.begin(), names.end(), controller) == names.end()) continue;
    const std::string_view path = line.substr(second + 1);
    // Outside of our view; the limits at the root of the view are what we can see.
    if (path.find("..") != std::string_view::npos) return "";
    return std::string(path);
  }
  return std::nullopt;
}

double Smaller(double limit, double other) {
  if (other <= 0) return limit;
  return limit <= 0 ? other : std::min(limit, other);
}

// The tightest limit from our cgroup up to the root; 0 when there is none.
double CgroupLimit(const std::string& root) {
  const std::string cgroups = ReadPseudoFile(root + "/proc/self/cgroup");
  const std::string base = root + "/sys/fs/cgroup";
  double limit = 0;
  const auto each_level = [&](std::string path, const auto& look) {
    while (true) {
      look(path);
      const size_t slash = path.find_last_of('/');
      if (slash == std::string::npos) break;
      path.resize(slash);
    }
  };
  if (const auto path = CgroupPath(cgroups, "")) {
    each_level(*path, [&](const std::string& level) {
      limit = Smaller(limit, CgroupCpus(ReadPseudoFile(base + level + "/cpu.max")));
    });
  }
  if (const auto path = CgroupPath(cgroups, "cpu")) {
    each_level(*path, [&](const std::string& level) {
      for (const char* mount : {"/cpu", "/cpu,cpuacct"}) {
        const std::string folder = base + mount + level;
        const std::string quota = ReadPseudoFile(folder + "/cpu.cfs_quota_us");
        const std::string period = ReadPseudoFile(folder + "/cpu.cfs_period_us");
        limit = Smaller(limit, CgroupCpus(quota + " " + period));
      }
    });
  }
  return limit;
}

std::string ModelName(const std::string& root) {
  const std::string text = ReadPseudoFile(root + "/proc/cpuinfo");
  for (const std::string_view line : Split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && Trim(line.substr(0, colon)) == "model name") {
      return std::string(Trim(line.substr(colon + 1)));
    }
  }
  return "CPU";
}

uint64_t MemoryBytes(const std::string& root) {
  const std::string text = ReadPseudoFile(root + "/proc/meminfo");
  for (const std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> words = Words(line);
    if (words.size() >= 2 && words[0] == "MemTotal:") {
      const int64_t kib = Number(words[1]).value_or(0);
      return kib < (int64_t{1} << 52) ? static_cast<uint64_t>(kib) << 10 : 0;
    }
  }
  return 0;
}

Result<size_t> SlotThreads(const Environment& environment) {
  const std::string value = environment(kSlotVariable).value_or("");
  if (Trim(value).empty()) return size_t{1};
  const std::optional<int64_t> threads = Number(Trim(value));
  if (!threads.has_value() || *threads < 1) {
    return InvalidInput(std::string(kSlotVariable) + "='" + value +
                        "' is no number of threads ≥ 1");
  }
  return static_cast<size_t>(*threads);
}

struct Usable {
  std::vector<int> cpus;
  size_t all = 0;  // before the cgroup's limit
};

Usable FindUsable(const ProbeOptions& options) {
  Usable usable;
  usable.cpus = options.affinity.empty() ? Affinity() : options.affinity;
  usable.all = usable.cpus.size();
  const double limit = CgroupLimit(options.root);
  if (limit > 0 && limit < static_cast<double>(usable.all)) {
    usable.cpus.resize(std::max(size_t{1}, static_cast<size_t>(std::floor(limit))));
  }
  return usable;
}

}  // namespace

int UsableProcessors(const ProbeOptions& options) {
  return std::max(1, static_cast<int>(FindUsable(options).cpus.size()));
}

double CgroupCpus(std::string_view cpu_max) {
  std::string flat(cpu_max);
  std::replace(flat.begin(), flat.end(), '\n', ' ');
  const std::vector<std::string_view> words = Words(flat);
  if (words.size() != 2) return 0;
  const std::optional<int64_t> quota = Number(words[0]);  // "max" and -1 mean no limit
  const std::optional<int64_t> period = Number(words[1]);
  if (!quota.has_value() || !period.has_value() || *quota == 0 || *period == 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

Result<ProbeResult> ProbeCpu(const ProbeOptions& options) {
  KERF_ASSIGN_OR_RETURN(const size_t threads, SlotThreads(options.environment));
  const Usable usable = FindUsable(options);
  const std::vector<int>& cpus = usable.cpus;
  ProbeResult result{.backend = Backend::kCpu};
  if (cpus.size() < usable.all) {
    result.notes.push_back("the cgroup gives " + std::to_string(cpus.size()) + " of " +
                           std::to_string(usable.all) + " processors");
  }
  // One slot at least: a machine smaller than a slot can still run one candidate at a time.
  const size_t slots = std::max(size_t{1}, cpus.size() / threads);
  utsname system{};
  (void)::uname(&system);
  const std::string name = ModelName(options.root);
  const uint64_t memory = MemoryBytes(options.root);
  for (size_t slot = 0; slot < slots; ++slot) {
    Device device;
    device.id = {Backend::kCpu, static_cast<int>(slot)};
    device.index = static_cast<int>(slot);
    device.name = name;
    device.arch = system.machine;
    device.memory_bytes = memory;  // of the machine: slots share it
    const size_t end = std::min(cpus.size(), (slot + 1) * threads);
    device.cpus.assign(cpus.begin() + static_cast<long>(slot * threads),
                       cpus.begin() + static_cast<long>(end));
    result.devices.push_back(std::move(device));
  }
  return result;
}

}  // namespace kerf::device
