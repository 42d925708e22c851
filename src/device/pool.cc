// The thread at the head of the line does the waiting for all: it looks at health records, tickets
// and locks, sleeps in ReleaseWatch, and looks again. The others sleep until they are the head.
// docs/formats/device_locks.md tells what it looks at.
#include "device/pool.h"

#include <algorithm>
#include <set>

namespace kerf::device {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Longest sleep between two looks: the bound on what a missed event costs.
constexpr milliseconds kLongestSleep(50);

std::vector<DeviceId> IdsOf(const std::vector<Device>& devices) {
  std::vector<DeviceId> ids;
  ids.reserve(devices.size());
  for (const Device& device : devices) ids.push_back(device.id);
  return ids;
}

}  // namespace

struct DevicePool::Request {
  const AcquireOptions& options;
  steady_clock::time_point begin = steady_clock::now();

  [[nodiscard]] std::optional<TimePoint> deadline() const {
    if (!options.timeout.has_value()) return std::nullopt;
    // A caller's "practically for ever" must not overflow into the past.
    const milliseconds most = std::chrono::hours(24 * 365);
    return begin + std::min(*options.timeout, most);
  }
  [[nodiscard]] bool expired() const {
    return options.timeout.has_value() && steady_clock::now() >= *deadline();
  }
};

Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      slot_(other.slot_),
      recovered_from_(std::move(other.recovered_from_)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  if (active()) (void)Release().ok();
  pool_ = std::exchange(other.pool_, nullptr);
  slot_ = other.slot_;
  recovered_from_ = std::move(other.recovered_from_);
  return *this;
}

Lease::~Lease() {
  if (active()) (void)Release().ok();
}

const Device& Lease::device() const {
  KERF_CHECK(active(), "the device of a released lease was asked for");
  return pool_->devices_[slot_];
}

Status Lease::Release() {
  if (!active()) {
    return InvalidInput("this lease has no device: it was released or moved from before");
  }
  std::exchange(pool_, nullptr)->Release(slot_);
  return {};
}

Result<std::unique_ptr<DevicePool>> DevicePool::Open(RuntimeDir dir, std::vector<Device> devices,
                                                     Clock& clock) {
  return Open(std::move(dir), std::move(devices), clock, Options{});
}

Result<std::unique_ptr<DevicePool>> DevicePool::Open(RuntimeDir dir, std::vector<Device> devices,
                                                     Clock& clock, Options options) {
  if (devices.empty()) {
    return InvalidInput(
        "a device pool needs at least one device; 'kerf devices' shows what there is");
  }
  std::set<DeviceId> seen;
  for (const Device& device : devices) {
    if (!seen.insert(device.id).second) {
      return InvalidInput("device " + device.id.ToString() + " is listed twice");
    }
  }
  // Made before the watch begins, which cannot watch what is not there.
  KERF_RETURN_IF_ERROR(dir.MakeDir(kQueueFolder));
  return std::unique_ptr<DevicePool>(
      new DevicePool(std::move(dir), std::move(devices), clock, options));
}

DevicePool::DevicePool(RuntimeDir dir, std::vector<Device> devices, Clock& clock, Options options)
    : dir_(std::move(dir)),
      devices_(std::move(devices)),
      clock_(clock),
      held_(devices_.size(), false),
      queue_(dir_, options.patience) {
  locks_.reserve(devices_.size());
  for (const Device& device : devices_) locks_.emplace_back(dir_, device.id);
}

DevicePool::~DevicePool() {
  const std::lock_guard lock(mu_);
  KERF_CHECK(std::none_of(held_.begin(), held_.end(), [](bool held) { return held; }),
             "a device pool was destroyed before its leases");
  KERF_CHECK(line_.empty(), "a device pool was destroyed while a thread waits in it");
}

Result<Lease> DevicePool::Acquire(const AcquireOptions& options) {
  Request request{options};
  std::unique_lock lock(mu_);
  const auto place = line_.insert(line_.end(), &request);
  const auto is_head = [&] { return line_.front() == &request; };
  if (const auto deadline = request.deadline()) {
    head_changed_.wait_until(lock, options.stop, *deadline, is_head);
  } else {
    head_changed_.wait(lock, options.stop, is_head);
  }
  Result<Lease> lease = is_head() ? AcquireAtHead(request, lock)
                        : options.stop.stop_requested()
                            ? Unavailable("stopped while waiting for a device")
                            : Result<Lease>(TimeoutError(request));
  const bool was_head = is_head();
  line_.erase(place);
  if (was_head) {
    queue_.Leave();
    head_changed_.notify_all();
  }
  return lease;
}

Result<Lease> DevicePool::AcquireAtHead(Request& request, std::unique_lock<std::mutex>& lock) {
  const std::stop_callback wake_on_stop(request.options.stop, [this] { watch_.Notify(); });
  Owner owner = OwnOwner(clock_, request.options.purpose);
  milliseconds sleep(1);
  while (true) {
    if (request.options.stop.stop_requested()) {
      return Unavailable("stopped while waiting for a device");
    }
    owner.since = FormatUtc(clock_.WallNanos());
    KERF_ASSIGN_OR_RETURN(std::optional<Lease> lease, Attempt(owner));
    if (lease.has_value()) return std::move(*lease);
    if (request.expired()) return TimeoutError(request);
    milliseconds nap = sleep;
    if (const auto deadline = request.deadline()) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now());
      nap = std::clamp(left, milliseconds(0), sleep);
    }
    watch_.Start(dir_);
    if (!queue_.entered()) {
      owner.wants = IdsOf(devices_);
      KERF_RETURN_IF_ERROR(queue_.Enter(owner));
      owner.wants.clear();
      // What was released before the watch began sent no event.
      continue;
    }
    lock.unlock();
    const bool woken = watch_.Wait(nap);
    lock.lock();
    sleep = woken ? milliseconds(1) : std::min(sleep * 2, kLongestSleep);
  }
}

Result<std::optional<Lease>> DevicePool::Attempt(const Owner& owner) {
  KERF_ASSIGN_OR_RETURN(const std::vector<size_t> usable, UsableSlots());
  return TryUsable(usable, owner);
}

// Not set aside; an error with all the reasons when there is none, because waiting would not help.
Result<std::vector<size_t>> DevicePool::UsableSlots() {
  std::vector<size_t> usable;
  std::string reasons;
  for (size_t slot = 0; slot < devices_.size(); ++slot) {
    const Device& device = devices_[slot];
    std::string reason;
    if (device.health.state == HealthState::kSetAside) {
      reason = device.health.reason;
    } else {
      KERF_ASSIGN_OR_RETURN(const std::optional<HealthRecord> record,
                            ReadAside(dir_, clock_, device.id));
      if (!record.has_value()) {
        usable.push_back(slot);
        continue;
      }
      reason = record->reason;
    }
    reasons += (reasons.empty() ? "" : "; ") + device.id.ToString() + ": " + reason;
  }
  if (usable.empty()) {
    return Unavailable("every device is set aside: " + reasons +
                       " ('kerf devices --reset ID' gives one another chance)");
  }
  return usable;
}

Result<std::optional<Lease>> DevicePool::TryUsable(const std::vector<size_t>& usable,
                                                   const Owner& owner) {
  KERF_ASSIGN_OR_RETURN(const std::set<DeviceId> reserved, queue_.Reserved(IdsOf(devices_)));
  for (const size_t slot : usable) {
    // Our own lock would be granted to us once more.
    if (held_[slot] || reserved.count(devices_[slot].id) > 0) continue;
    KERF_ASSIGN_OR_RETURN(const bool locked, locks_[slot].TryLock(owner));
    if (!locked) continue;
    held_[slot] = true;
    return std::optional<Lease>(Lease(this, slot, locks_[slot].recovered_from()));
  }
  return std::optional<Lease>();
}

Error DevicePool::TimeoutError(const Request& request) {
  const auto waited = std::chrono::duration_cast<milliseconds>(steady_clock::now() - request.begin);
  std::string text = "no device became free within " + std::to_string(waited.count()) + " ms:";
  for (size_t slot = 0; slot < devices_.size(); ++slot) {
    const DeviceId& id = devices_[slot].id;
    text += (slot == 0 ? " " : "; ") + id.ToString() + " ";
    const Result<std::optional<HealthRecord>> aside = ReadAside(dir_, clock_, id);
    const Result<std::optional<Holder>> holder = HolderOf(dir_, id);
    if (aside.ok() && aside->has_value()) {
      text += "is set aside (" + (*aside)->reason + ")";
    } else if (holder.ok() && holder->has_value()) {
      text += "is held by " + (*holder)->ToString();
    } else {
      text += "is promised to another that waits longer";
    }
  }
  return TimedOut(text);
}

void DevicePool::Release(size_t slot) {
  const std::lock_guard lock(mu_);
  KERF_CHECK(held_[slot], "a device was released that nobody held");
  held_[slot] = false;
  locks_[slot].Unlock();
  watch_.Notify();
}

Status DevicePool::CheckMember(const DeviceId& id) const {
  const std::vector<DeviceId> ids = IdsOf(devices_);
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return {};
  return NotFound(id.ToString() + " is not in this pool, which has " + JoinIds(ids));
}

Status DevicePool::SetAside(const DeviceId& id, const std::string& reason,
                            std::chrono::seconds for_how_long) {
  KERF_RETURN_IF_ERROR(CheckMember(id));
  KERF_RETURN_IF_ERROR(device::SetAside(dir_, clock_, id, reason, for_how_long));
  watch_.Notify();
  return {};
}

Result<bool> DevicePool::Reset(const DeviceId& id) {
  KERF_RETURN_IF_ERROR(CheckMember(id));
  KERF_ASSIGN_OR_RETURN(const bool was_aside, ClearAside(dir_, id));
  watch_.Notify();
  return was_aside;
}

size_t DevicePool::waiting() const {
  const std::lock_guard lock(mu_);
  return line_.size();
}

}  // namespace kerf::device
