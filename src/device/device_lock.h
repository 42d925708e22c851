// The lock file of one device: held by at most one process of the machine, and inside it by the one
// pool that opened it. The kernel drops the lock when its holder ends, however it ends.
//
// Not thread-safe; the pool guards it.
#pragma once

#include <optional>

#include "device/device.h"
#include "device/owner.h"
#include "device/runtime_dir.h"

namespace kerf::device {

class DeviceLock {
 public:
  // `dir` outlives the lock.
  DeviceLock(const RuntimeDir& dir, const DeviceId& id)
      : dir_(&dir), name_(id.FileStem() + ".lock") {}

  // Whether the lock is ours now. Never waits. Must not be held already.
  Result<bool> TryLock(const Owner& owner);
  void Unlock();

  // The owner that died while it held the device, when the last TryLock() took it over from one.
  [[nodiscard]] const std::optional<Owner>& recovered_from() const { return recovered_from_; }

 private:
  Status OpenFile();

  const RuntimeDir* dir_;
  std::string name_;
  // Stays open between attempts: closing a file that was opened for writing wakes every waiter.
  Fd fd_;
  std::optional<Owner> recovered_from_;
};

struct Holder {
  std::optional<Owner> owner;  // nullopt when the file does not say
  // False when the owner ended but something that inherited its descriptor lives on.
  bool owner_alive = true;

  [[nodiscard]] std::string ToString() const;
};

// Who holds the device now; nullopt when nobody does. Takes a shared lock for a moment: an attempt
// of another process in that moment fails and is repeated by its waiter.
Result<std::optional<Holder>> HolderOf(const RuntimeDir& dir, const DeviceId& id);

}  // namespace kerf::device
