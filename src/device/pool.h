// Hands devices out, one holder each, across all threads and all processes of this user on this
// machine.
//
//   KERF_ASSIGN_OR_RETURN(RuntimeDir dir, RuntimeDir::Open(ProcessEnvironment()));
//   KERF_ASSIGN_OR_RETURN(auto pool, DevicePool::Open(std::move(dir), devices, clock));
//   KERF_ASSIGN_OR_RETURN(Lease lease, pool->Acquire({.purpose = "kerf verify relu"}));
//   RunOn(lease.device());          // given back when `lease` goes
//
// Order. Threads of one pool are served first come, first served. Between processes the one at the
// head of each process's line takes a ticket, and tickets are served in order: every process gets
// its turn, however many threads another one has. A process that is stopped while it waits is
// overtaken after Options::patience.
//
// A device that failed a check is set aside for all processes (SetAside) and not handed out until
// the record expires or is reset.
//
// Locks belong to open files, therefore a child made by fork() without exec() keeps its parent's
// devices; RunProcess() and everything else that executes a program does not.
//
// Thread-safe. All leases must be gone before the pool.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/device.h"
#include "device/device_lock.h"
#include "device/health_record.h"
#include "device/release_watch.h"
#include "device/runtime_dir.h"
#include "device/ticket_queue.h"

namespace kerf::device {

class DevicePool;

// The right to use one device. Move-only; gives the device back once, in Release() or in the
// destructor. Not thread-safe, but may be given to another thread.
class [[nodiscard]] Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  [[nodiscard]] bool active() const { return pool_ != nullptr; }
  // Only while active.
  [[nodiscard]] const Device& device() const;
  // The owner before us, when it died while it held the device: what it ran may have left traces.
  [[nodiscard]] const std::optional<Owner>& recovered_from() const { return recovered_from_; }

  // kInvalidInput when it was released, or moved from, before.
  Status Release();

 private:
  friend class DevicePool;
  Lease(DevicePool* pool, size_t slot, std::optional<Owner> recovered_from)
      : pool_(pool), slot_(slot), recovered_from_(std::move(recovered_from)) {}

  DevicePool* pool_;
  size_t slot_;
  std::optional<Owner> recovered_from_;
};

struct AcquireOptions {
  std::string purpose;  // shown to whoever waits for the device
  // nullopt: for ever. Zero: only when one is free now.
  std::optional<std::chrono::milliseconds> timeout;
  std::stop_token stop;
};

class DevicePool {
 public:
  struct Options {
    // How long a waiting process may show no sign of life before it is overtaken.
    std::chrono::milliseconds patience = std::chrono::seconds(2);
  };

  // Devices must be interchangeable for the caller. kInvalidInput when there are none or one is
  // listed twice: [1, 1] would hand 1 out twice.
  static Result<std::unique_ptr<DevicePool>> Open(RuntimeDir dir, std::vector<Device> devices,
                                                  Clock& clock, Options options);
  static Result<std::unique_ptr<DevicePool>> Open(RuntimeDir dir, std::vector<Device> devices,
                                                  Clock& clock);
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;
  ~DevicePool();

  // kTimeout with who holds what; kUnavailable when stopped, and when every device is set aside,
  // with the reasons.
  Result<Lease> Acquire(const AcquireOptions& options);

  // Keeps a device from being handed out again, here and in other processes; whoever has it keeps
  // it. kNotFound when the device is not of this pool.
  Status SetAside(const DeviceId& id, const std::string& reason,
                  std::chrono::seconds for_how_long = kSetAsideFor);
  // Whether it was set aside.
  Result<bool> Reset(const DeviceId& id);

  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  // Threads of this process that wait.
  [[nodiscard]] size_t waiting() const;

 private:
  friend class Lease;
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Request;

  DevicePool(RuntimeDir dir, std::vector<Device> devices, Clock& clock, Options options);

  // All need mu_.
  Result<std::optional<Lease>> Attempt(const Owner& owner);
  Result<std::optional<Lease>> TryUsable(const std::vector<size_t>& usable, const Owner& owner);
  Result<std::vector<size_t>> UsableSlots();
  Result<Lease> AcquireAtHead(Request& request, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Error TimeoutError(const Request& request);

  [[nodiscard]] Status CheckMember(const DeviceId& id) const;
  void Release(size_t slot);

  // Constant after construction.
  const RuntimeDir dir_;
  const std::vector<Device> devices_;
  Clock& clock_;

  ReleaseWatch watch_;  // Wait() only by the thread at the head of the line

  mutable std::mutex mu_;
  std::condition_variable_any head_changed_;
  // Guarded by mu_.
  std::vector<DeviceLock> locks_;
  std::vector<bool> held_;
  TicketQueue queue_;
  std::list<const Request*> line_;
};

}  // namespace kerf::device
