#include "loop/conduct/hardware.h"

#include <fmt/core.h>

#include "artifact/chip.h"
#include "device/probe.h"
#include "resource/resource.h"

namespace kerf::conduct {
namespace {

Result<std::string> CpuText() {
  KERF_ASSIGN_OR_RETURN(const device::ProbeResult found,
                        device::Probe(device::Backend::kCpu, device::ProbeOptions()));
  if (found.devices.empty()) return std::string();
  size_t processors = 0;
  for (const device::Device& slot : found.devices) processors += slot.cpus.size();
  const device::Device& first = found.devices.front();
  std::string text =
      fmt::format("{}, {}, {} processors, {:.0f} GiB of memory", first.name, first.arch, processors,
                  static_cast<double>(first.memory_bytes) / (1 << 30));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    text += "; AVX-512 (16 floats in a vector)";
  } else if (__builtin_cpu_supports("avx2")) {
    text += "; AVX2 and FMA (8 floats in a vector)";
  }
#endif
  return text;
}

std::string ChipText(const Chip& chip) {
  std::string text = fmt::format(
      "{} {} ({}): {:.0f} GiB of memory at {:.2f} TB/s, {:.0f} MiB of L2 cache; peaks:",
      chip.vendor, chip.name, chip.arch, static_cast<double>(chip.memory_bytes) / (1 << 30),
      chip.memory_bandwidth / 1e12, static_cast<double>(chip.l2_bytes) / (1 << 20));
  for (const auto& [type, flops] : chip.flops) {
    text += fmt::format(" {} {:.0f} Tflop/s", type, flops / 1e12);
  }
  return text;
}

}  // namespace

Result<std::string> HardwareText(const TaskSpec& spec) {
  if (spec.backend == "cpu") return CpuText();
  for (const resource::File& file : resource::Files("chips/" + spec.arch + ".yaml")) {
    KERF_ASSIGN_OR_RETURN(const Chip chip, ParseChip(std::string(file.bytes)));
    return ChipText(chip);
  }
  return spec.backend + " " + spec.arch;
}

}  // namespace kerf::conduct
