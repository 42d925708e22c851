// NVML by dlopen, with the few declarations needed here: kerf must start on machines without it.
// The ABI of these functions has been stable since NVML 5 (the _v2 names are part of it).
#include <dlfcn.h>

#include <cstring>

#include "device/probe.h"
#include "device/text_scan.h"
#include "device/visible_devices.h"

namespace kerf::device {
namespace {

using NvmlDevice = void*;
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

constexpr unsigned kTextSize = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE and _UUID_V2_
// More than any machine has; a broken library must not make us loop.
constexpr unsigned kMostCudaDevices = 1024;

class Nvml {
 public:
  explicit Nvml(const std::string& library)
      : handle_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      error_ = library + " cannot be loaded; NVIDIA's driver is not installed";
      return;
    }
    const bool complete =
        Load(init, "nvmlInit_v2") && Load(shutdown, "nvmlShutdown") &&
        Load(get_count, "nvmlDeviceGetCount_v2") &&
        Load(get_handle, "nvmlDeviceGetHandleByIndex_v2") && Load(get_name, "nvmlDeviceGetName") &&
        Load(get_uuid, "nvmlDeviceGetUUID") && Load(get_memory, "nvmlDeviceGetMemoryInfo") &&
        Load(get_capability, "nvmlDeviceGetCudaComputeCapability") &&
        Load(error_string, "nvmlErrorString");
    if (!complete) {
      error_ = library + " lacks " + missing_ + "; is it NVIDIA's?";
      return;
    }
    if (const int code = init(); code != 0) {
      error_ = "NVML does not start: " + Describe(code);
      return;
    }
    started_ = true;
  }
  ~Nvml() {
    if (started_) (void)shutdown();
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Empty when it works.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::string Describe(int code) const {
    const char* text = error_string(code);
    return (text == nullptr ? "error" : std::string(text)) + " (code " + std::to_string(code) + ")";
  }

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*get_count)(unsigned*) = nullptr;
  int (*get_handle)(unsigned, NvmlDevice*) = nullptr;
  int (*get_name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*get_uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*get_memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*get_capability)(NvmlDevice, int*, int*) = nullptr;
  const char* (*error_string)(int) = nullptr;

 private:
  template <typename Function>
  bool Load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (function == nullptr) missing_ = name;
    return function != nullptr;
  }

  void* handle_;
  bool started_ = false;
  std::string missing_;
  std::string error_;
};

std::string Text(int (*get)(NvmlDevice, char*, unsigned), NvmlDevice handle) {
  char buffer[kTextSize + 1] = "";
  if (get(handle, buffer, kTextSize) != 0) return "";
  buffer[kTextSize] = '\0';  // whatever the library did
  return std::string(Trim(buffer));
}

Device Describe(const Nvml& nvml, unsigned number) {
  Device device;
  device.id = {Backend::kCuda, static_cast<int>(number)};
  device.index = static_cast<int>(number);
  NvmlDevice handle = nullptr;
  if (const int code = nvml.get_handle(number, &handle); code != 0) {
    device.health = {HealthState::kSetAside, "NVML says: " + nvml.Describe(code)};
    return device;
  }
  device.name = Text(nvml.get_name, handle);
  device.uuid = Text(nvml.get_uuid, handle);
  device.chip = NvidiaChip(device.name);
  NvmlMemory memory{};
  if (nvml.get_memory(handle, &memory) == 0) device.memory_bytes = memory.total;
  int major = 0;
  int minor = 0;
  if (nvml.get_capability(handle, &major, &minor) == 0 && major > 0) {
    device.arch = "sm_" + std::to_string(major) + std::to_string(minor);
  } else {
    device.health = {HealthState::kDoubtful, "NVML does not tell its compute capability"};
  }
  return device;
}

}  // namespace

std::string NvidiaChip(std::string_view name) {
  std::vector<std::string> words;
  const std::string lower = Lower(name);
  for (const std::string_view word : Words(lower)) {
    if (word == "nvidia" || word == "tesla" || word == "quadro" || word == "geforce") continue;
    words.emplace_back(word);
  }
  if (words.empty()) return "";
  // "a100-sxm4-80gb", "a100-pcie-40gb": the form it is sold in.
  std::string chip = words[0].substr(0, words[0].find('-'));
  const bool family = chip == "rtx" || chip == "gtx" || chip == "titan";
  for (size_t i = 1; family && i < words.size(); ++i) {
    if (i > 1 && words[i] != "ti" && words[i] != "super" && words[i] != "ada") break;
    chip += words[i];
  }
  return chip;
}

ProbeResult ProbeCuda(const ProbeOptions& options) {
  ProbeResult result{.backend = Backend::kCuda};
  const Nvml nvml(options.nvml_library);
  result.why_none = nvml.error();
  if (!result.why_none.empty()) return result;
  unsigned count = 0;
  if (const int code = nvml.get_count(&count); code != 0) {
    result.why_none = "NVML cannot count the GPUs: " + nvml.Describe(code);
    return result;
  }
  if (count == 0) {
    result.why_none = "NVIDIA's driver is there, but it sees no GPU";
    return result;
  }
  if (count > kMostCudaDevices) {
    result.why_none = "NVML claims " + std::to_string(count) + " GPUs, which cannot be true";
    return result;
  }
  for (unsigned number = 0; number < count; ++number) {
    result.devices.push_back(Describe(nvml, number));
  }
  ApplyVisible("CUDA_VISIBLE_DEVICES", options.environment, result);
  return result;
}

}  // namespace kerf::device
