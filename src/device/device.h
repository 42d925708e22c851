// One thing that candidates run on, and the name kerf knows it by.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kerf::device {

enum class Backend { kCpu, kCuda, kRocm, kAscend };

inline constexpr Backend kAllBackends[] = {Backend::kCpu, Backend::kCuda, Backend::kRocm,
                                           Backend::kAscend};

// "cpu", "cuda", "rocm", "ascend".
const char* BackendName(Backend backend);
std::optional<Backend> ParseBackend(std::string_view name);

// "cuda:4": the device itself, the same in every process of the machine, whatever the *_VISIBLE_
// variables say. Locks and health records are kept under it.
struct DeviceId {
  Backend backend = Backend::kCpu;
  int number = 0;

  [[nodiscard]] std::string ToString() const;
  // The same as a file name: "cuda-4".
  [[nodiscard]] std::string FileStem() const;
  // kInvalidInput with the text and the right form.
  static Result<DeviceId> Parse(std::string_view text);

  // clang-tidy 14 takes the 0 that the compiler compares with for a null pointer.
  auto operator<=>(const DeviceId&) const = default;  // NOLINT(modernize-use-nullptr)
};

// "cuda:0, cuda:1"
std::string JoinIds(const std::vector<DeviceId>& ids);

enum class HealthState {
  kGood,
  kDoubtful,  // usable; the reason is worth showing beside a measurement
  kSetAside,  // never handed out
};
const char* HealthStateName(HealthState state);

struct Health {
  HealthState state = HealthState::kGood;
  std::string reason;  // empty when good
};

struct Device {
  DeviceId id;
  // What the backend's run time calls it in a process with our environment: the argument of
  // cudaSetDevice(). Differs from id.number when CUDA_VISIBLE_DEVICES and its like are set.
  int index = 0;
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90", "gfx942", "ascend910b3", "x86_64"
  std::string chip;  // "h200": the name of its description in chips/; empty when unknown
  // As the vendor writes it; empty when it has none. Safer than `index` for pinning a child,
  // because CUDA may number devices in another order than NVML.
  std::string uuid;
  uint64_t memory_bytes = 0;  // 0: unknown
  std::vector<int> cpus;      // of a cpu slot: the processors it stands for
  Health health;              // what the probe saw

  [[nodiscard]] Backend backend() const { return id.backend; }
};

}  // namespace kerf::device
