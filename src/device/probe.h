// What devices this machine has, asked of the vendors' own interfaces at run time: nothing is
// linked and a machine without them is as good as any.
//
//   cpu     sched_getaffinity and the cgroup's CPU limit; one device for KERF_CPU_SLOT_THREADS
//           (default 1) processors
//   cuda    libnvidia-ml.so.1, and CUDA_VISIBLE_DEVICES
//   rocm    /sys/class/kfd/kfd/topology, and ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES
//   ascend  the table that `npu-smi info` prints, and ASCEND_RT_VISIBLE_DEVICES
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/environment.h"

namespace kerf::device {

// Where to look; tests put fakes there.
struct ProbeOptions {
  Environment environment = ProcessEnvironment();
  std::string root;  // stands before /proc, /sys and /dev
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string npu_smi = "npu-smi";
  // A driver in trouble can hang its tools for ever.
  std::chrono::milliseconds npu_smi_timeout = std::chrono::seconds(10);
  std::vector<int> affinity;  // processors we may use; empty: the kernel is asked
};

struct ProbeResult {
  Backend backend = Backend::kCpu;
  std::vector<Device> devices;
  std::string why_none;            // one sentence when there are none
  std::vector<std::string> notes;  // what was left out, and why
};

// An Error only for a variable of kerf's own that has a bad value; a machine without the device, or
// with a broken driver, is an answer. Thread-safe.
Result<ProbeResult> Probe(Backend backend, const ProbeOptions& options);

Result<ProbeResult> ProbeCpu(const ProbeOptions& options);
// How many processors are ours: those of the affinity mask, as far as the cgroup gives them. At
// least 1. The machine may have many more, and threads on those would only wait.
int UsableProcessors(const ProbeOptions& options = {});
ProbeResult ProbeCuda(const ProbeOptions& options);
ProbeResult ProbeRocm(const ProbeOptions& options);
ProbeResult ProbeAscend(const ProbeOptions& options);

// The parts that read what others wrote, apart so that they can be tried with anything.

// "NVIDIA A100-SXM4-80GB" → "a100"
std::string NvidiaChip(std::string_view name);
// 90402 → "gfx942", 90010 → "gfx90a"; empty when it is no version.
std::string GfxArch(int64_t gfx_target_version);
// How many processors a cgroup gives: cpu.max of version 2 ("150000 100000" → 1.5), or quota and
// period of version 1. 0 when there is no limit or the text makes no sense.
double CgroupCpus(std::string_view cpu_max);
// All NPUs in the table of `npu-smi info`, in its order, none hidden.
std::vector<Device> ParseNpuSmi(std::string_view text);

}  // namespace kerf::device
