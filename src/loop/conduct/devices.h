// The devices of one backend, to judge candidates on.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "device/pool.h"

namespace kerf::conduct {

class Devices {
 public:
  // `cpu_threads`: processors in one slot of the CPU, unless KERF_CPU_SLOT_THREADS says; 0: its
  // default. kUnavailable when there is no such device.
  static Result<Devices> Open(const std::string& backend, int cpu_threads, Clock& clock);

  // kTimeout when none became free in time; without one it waits for ever.
  Result<device::Lease> Acquire(const std::string& purpose, std::stop_token stop,
                                std::optional<std::chrono::milliseconds> timeout);
  // One of them: the others are mostly of the same kind.
  [[nodiscard]] const device::Device& example() const { return example_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  Devices(std::unique_ptr<device::DevicePool> pool, device::Device example, size_t size)
      : pool_(std::move(pool)), example_(std::move(example)), size_(size) {}

  std::unique_ptr<device::DevicePool> pool_;
  device::Device example_;
  size_t size_;
};

}  // namespace kerf::conduct
