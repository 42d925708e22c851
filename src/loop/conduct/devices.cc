#include "loop/conduct/devices.h"

#include "device/probe.h"

namespace kerf::conduct {

Result<Devices> Devices::Open(const std::string& backend, int cpu_threads, Clock& clock) {
  device::ProbeOptions probe;
  if (cpu_threads > 0) {
    probe.environment = [process = probe.environment,
                         cpu_threads](const std::string& name) -> std::optional<std::string> {
      std::optional<std::string> value = process(name);
      if (name != "KERF_CPU_SLOT_THREADS" || value.has_value()) return value;
      return std::to_string(cpu_threads);
    };
  }
  const std::optional<device::Backend> kind = device::ParseBackend(backend);
  if (!kind.has_value()) return InvalidInput("there is no backend " + backend);
  KERF_ASSIGN_OR_RETURN(device::ProbeResult found, device::Probe(*kind, probe));
  if (found.devices.empty()) return Unavailable("no " + backend + " device: " + found.why_none);
  KERF_ASSIGN_OR_RETURN(device::RuntimeDir dir, device::RuntimeDir::Open(probe.environment));
  const size_t size = found.devices.size();
  device::Device example = found.devices.front();
  KERF_ASSIGN_OR_RETURN(auto pool,
                        device::DevicePool::Open(std::move(dir), std::move(found.devices), clock));
  return Devices(std::move(pool), std::move(example), size);
}

Result<device::Lease> Devices::Acquire(const std::string& purpose, std::stop_token stop,
                                       std::optional<std::chrono::milliseconds> timeout) {
  return pool_->Acquire({.purpose = purpose, .timeout = timeout, .stop = std::move(stop)});
}

}  // namespace kerf::conduct
