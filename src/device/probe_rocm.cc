// The kernel's KFD driver describes every node of an AMD machine in sysfs; nodes with SIMD units
// are GPUs. No library is needed, and it works before ROCm is installed.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <map>

#include "device/probe.h"
#include "device/text_scan.h"
#include "device/visible_devices.h"

namespace kerf::device {
namespace {

// Lines of a name and a whole number; others are left out. Unsigned: unique_id uses all 64 bits.
std::map<std::string, uint64_t> ReadProperties(const std::string& path) {
  std::map<std::string, uint64_t> properties;
  const std::string text = ReadPseudoFile(path);
  for (const std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> words = Words(line);
    if (words.size() != 2 || words[1].find_first_not_of("0123456789") != std::string_view::npos) {
      continue;
    }
    errno = 0;
    const uint64_t value = std::strtoull(std::string(words[1]).c_str(), nullptr, 10);
    if (errno == 0) properties[std::string(words[0])] = value;
  }
  return properties;
}

uint64_t Get(const std::map<std::string, uint64_t>& properties, const std::string& name) {
  const auto it = properties.find(name);
  return it == properties.end() ? 0 : it->second;
}

// Names that are whole numbers, in their order: nodes and memory banks.
std::vector<int64_t> NumberedEntries(const std::string& folder) {
  std::vector<int64_t> numbers;
  DIR* handle = ::opendir(folder.c_str());
  if (handle == nullptr) return numbers;
  while (const dirent* entry = ::readdir(handle)) {
    const std::string_view name = entry->d_name;
    if (const auto number = Number(name); number.has_value()) numbers.push_back(*number);
  }
  ::closedir(handle);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

uint64_t MemoryOf(const std::string& node) {
  constexpr uint64_t kFrameBufferPublic = 1;  // HSA_MEM_HEAP_TYPE_FB_PUBLIC
  constexpr uint64_t kFrameBufferPrivate = 2;
  uint64_t bytes = 0;
  for (const int64_t bank : NumberedEntries(node + "/mem_banks")) {
    const auto properties =
        ReadProperties(node + "/mem_banks/" + std::to_string(bank) + "/properties");
    const uint64_t heap = Get(properties, "heap_type");
    const uint64_t size = Get(properties, "size_in_bytes");
    if ((heap == kFrameBufferPublic || heap == kFrameBufferPrivate) &&
        size <= std::numeric_limits<uint64_t>::max() - bytes) {
      bytes += size;
    }
  }
  return bytes;
}

// Families as AMD sells them; the arch alone does not tell an MI300A from an MI300X.
std::string ChipOf(const std::string& arch) {
  static const std::map<std::string, std::string> kChips = {
      {"gfx906", "mi50"},  {"gfx908", "mi100"}, {"gfx90a", "mi200"},
      {"gfx942", "mi300"}, {"gfx950", "mi350"},
  };
  const auto it = kChips.find(arch);
  return it == kChips.end() ? "" : it->second;
}

Device Describe(const std::string& node, const std::map<std::string, uint64_t>& properties,
                int number) {
  Device device;
  device.id = {Backend::kRocm, number};
  device.index = number;
  const uint64_t version = Get(properties, "gfx_target_version");
  device.arch = version < 10'000'000 ? GfxArch(static_cast<int64_t>(version)) : "";
  device.chip = ChipOf(device.arch);
  const std::string code_name{Trim(ReadPseudoFile(node + "/name"))};
  device.name = "AMD " + (code_name.empty() ? "GPU" : code_name);
  device.memory_bytes = MemoryOf(node);
  if (const uint64_t unique = Get(properties, "unique_id"); unique != 0) {
    char text[32];
    (void)std::snprintf(text, sizeof text, "GPU-%016llx", static_cast<unsigned long long>(unique));
    device.uuid = text;
  }
  if (device.arch.empty()) {
    device.health = {HealthState::kDoubtful, "the driver does not tell its gfx version"};
  }
  return device;
}

}  // namespace

std::string GfxArch(int64_t gfx_target_version) {
  const int64_t major = gfx_target_version / 10000;
  const int64_t minor = gfx_target_version / 100 % 100;
  const int64_t stepping = gfx_target_version % 100;
  // The name has one hexadecimal digit each for the last two.
  if (major < 1 || minor > 15 || stepping > 15) return "";
  char text[48];
  (void)std::snprintf(text, sizeof text, "gfx%lld%llx%llx", static_cast<long long>(major),
                      static_cast<long long>(minor), static_cast<long long>(stepping));
  return text;
}

ProbeResult ProbeRocm(const ProbeOptions& options) {
  ProbeResult result{.backend = Backend::kRocm};
  const std::string nodes = options.root + "/sys/class/kfd/kfd/topology/nodes";
  const std::vector<int64_t> numbers = NumberedEntries(nodes);
  if (numbers.empty()) {
    result.why_none = "no " + nodes + "; the amdgpu driver is not loaded";
    return result;
  }
  const bool usable = ::access((options.root + "/dev/kfd").c_str(), R_OK | W_OK) == 0;
  for (const int64_t number : numbers) {
    const std::string node = nodes + "/" + std::to_string(number);
    const auto properties = ReadProperties(node + "/properties");
    if (properties.empty()) {
      // A container sees nodes of GPUs it was not given, but may not read them.
      result.notes.push_back(node + " cannot be read");
    }
    if (Get(properties, "simd_count") == 0) continue;
    Device device = Describe(node, properties, static_cast<int>(result.devices.size()));
    if (!usable) {
      device.health = {HealthState::kSetAside,
                       "this user may not open /dev/kfd; run: usermod -aG render,video \"$USER\""};
    }
    result.devices.push_back(std::move(device));
  }
  if (result.devices.empty()) result.why_none = "the amdgpu driver is there, but it sees no GPU";
  // HIP numbers what ROCR shows it.
  ApplyVisible("ROCR_VISIBLE_DEVICES", options.environment, result);
  ApplyVisible("HIP_VISIBLE_DEVICES", options.environment, result);
  return result;
}

}  // namespace kerf::device
