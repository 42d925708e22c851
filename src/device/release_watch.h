// Sleeps until a device may have become free: a release in this process (Notify), or something in
// the device directory: a lock released, its owner killed, a ticket gone, a device set aside or
// reset.
//
// A hint only: inotify may be missing or the file system may not support it, therefore every sleep
// is short and the caller looks again.
#pragma once

#include <chrono>

#include "base/child_posix.h"
#include "device/runtime_dir.h"

namespace kerf::device {

class ReleaseWatch {
 public:
  ReleaseWatch();
  // Begins to watch; again is harmless. Not thread-safe.
  void Start(const RuntimeDir& dir);
  // One thread at a time. True when something happened.
  bool Wait(std::chrono::milliseconds at_most);
  // Any thread, also while another one waits.
  void Notify();

 private:
  bool started_ = false;
  Fd wake_;
  Fd events_;
};

}  // namespace kerf::device
