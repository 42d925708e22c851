#include <algorithm>

#include "base/file_system.h"
#include "cli/doctor/check.h"

namespace kerf::cli {
namespace {

std::string JoinLines(const std::string& text) {
  std::string joined;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) joined += (joined.empty() ? "" : "; ") + text.substr(begin, end - begin);
    begin = end + 1;
  }
  return joined;
}

// "Model:           NVIDIA H200" in /proc/driver/nvidia/gpus/*/information: there when nvidia-smi
// is not.
std::string NvidiaModels(Machine& machine) {
  const std::string root = "/proc/driver/nvidia/gpus";
  std::string models;
  for (const std::string& gpu : machine.List(root)) {
    const std::string text = machine.Read(JoinPath(root, gpu) + "/information");
    const std::string_view key = "Model:";
    const size_t at = text.find(key);
    if (at == std::string::npos) continue;
    const size_t begin = text.find_first_not_of(" \t", at + key.size());
    if (begin == std::string::npos) continue;
    models += (models.empty() ? "" : "; ") + FirstLine(std::string_view(text).substr(begin));
  }
  return models;
}

std::vector<Finding> CheckNvidia(Machine& machine) {
  Finding finding{"NVIDIA GPU", Health::kMissing, "no nvidia-smi and no libcuda.so.1",
                  "running and timing CUDA C and Triton candidates on a GPU",
                  "install NVIDIA's driver on a machine that has a GPU"};
  const bool driver = machine.CanLoad("libcuda.so.1");
  if (!machine.FindPrograms("nvidia-smi").empty()) {
    const std::string gpus =
        JoinLines(OutputOf(machine, {"nvidia-smi", "--query-gpu=name,memory.total,driver_version",
                                     "--format=csv,noheader"}));
    if (!gpus.empty()) {
      finding.health = driver ? Health::kOk : Health::kLimited;
      finding.detail = gpus + (driver ? "" : "; but libcuda.so.1 cannot be loaded");
      return {finding};
    }
    finding.detail = "nvidia-smi is there, but finds no GPU";
  }
  const std::string models = NvidiaModels(machine);
  if (driver && !models.empty()) {
    finding.health = Health::kOk;
    finding.detail = models;
  } else if (driver) {
    finding.health = Health::kLimited;
    finding.detail = "libcuda.so.1 loads, but no GPU is visible";
  }
  return {finding};
}

std::vector<Finding> CheckAmd(Machine& machine) {
  Finding finding{"AMD GPU", Health::kMissing, "no /dev/kfd",
                  "running and timing HIP candidates on a GPU",
                  "install the amdgpu driver on a machine that has a GPU"};
  if (!machine.Exists("/dev/kfd")) return {finding};
  const bool usable = machine.MayReadAndWrite("/dev/kfd");
  finding.health = usable ? Health::kOk : Health::kLimited;
  finding.detail = usable ? "/dev/kfd" : "/dev/kfd is there, but this user may not open it";
  if (!usable) finding.install = "usermod -aG render,video \"$USER\", then log in again";
  return {finding};
}

std::vector<Finding> CheckAscend(Machine& machine) {
  Finding finding{"Ascend NPU", Health::kMissing, "no npu-smi and no /dev/davinci*",
                  "running and timing candidates on an NPU",
                  "install the Ascend driver and firmware on a machine that has an NPU"};
  int devices = 0;
  for (const std::string& name : machine.List("/dev")) {
    const std::string_view prefix = "davinci";
    // davinci_manager and the like are control nodes.
    if (name.rfind(prefix, 0) == 0 && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos) {
      ++devices;
    }
  }
  const bool tool = !machine.FindPrograms("npu-smi").empty();
  if (devices == 0 && !tool) return {finding};
  finding.health = devices > 0 && tool ? Health::kOk : Health::kLimited;
  finding.detail = std::to_string(devices) + " devices (/dev/davinci*)" +
                   (tool ? "" : "; npu-smi is not in PATH");
  return {finding};
}

std::vector<Finding> CheckCann(Machine& machine) {
  Finding finding{"CANN", Health::kMissing, "neither ASCEND_HOME_PATH nor CANN_HOME is set",
                  "'msprof op simulator' as the simulator behind kerf replay",
                  "install the CANN toolkit and source its set_env.sh"};
  std::vector<std::string> profilers = machine.FindPrograms("msprof");
  for (const char* variable : {"ASCEND_HOME_PATH", "CANN_HOME"}) {
    const auto home = machine.Variable(variable);
    if (!home.has_value()) continue;
    if (!machine.Exists(*home)) {
      finding.health = Health::kLimited;
      finding.detail = std::string(variable) + " names " + *home + ", which is not there";
      continue;
    }
    for (const char* below : {"/bin/msprof", "/tools/profiler/bin/msprof"}) {
      if (machine.IsExecutable(*home + below)) profilers.push_back(*home + below);
    }
    finding.health = profilers.empty() ? Health::kLimited : Health::kOk;
    finding.detail = *home + (profilers.empty() ? "; without msprof" : "; " + profilers.front());
    return {finding};
  }
  if (!profilers.empty()) {
    finding.health = Health::kLimited;
    finding.detail = profilers.front() + "; but neither ASCEND_HOME_PATH nor CANN_HOME is set";
  }
  return {finding};
}

}  // namespace

std::vector<Check> DeviceChecks() { return {CheckNvidia, CheckAmd, CheckAscend, CheckCann}; }

}  // namespace kerf::cli
