// The queue of processes that wait for devices: docs/formats/device_locks.md.
//
// A ticket is a numbered file that its owner keeps locked. A process leaves every device that an
// earlier live ticket wants to that ticket. Exclusion never depends on tickets, only the order
// does.
//
// Not thread-safe; the pool guards it. One Ticket per pool at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/owner.h"
#include "device/runtime_dir.h"

namespace kerf::device {

class TicketQueue {
 public:
  // A ticket whose owner has not touched it for `patience` is overtaken: the process is stopped or
  // starved, and a free device should not wait for it. `dir` outlives the queue.
  TicketQueue(const RuntimeDir& dir, std::chrono::milliseconds patience)
      : dir_(&dir), patience_(patience) {}
  TicketQueue(const TicketQueue&) = delete;
  TicketQueue& operator=(const TicketQueue&) = delete;
  ~TicketQueue() { Leave(); }

  // Goes to the end of the queue.
  Status Enter(const Owner& owner);
  // Removes the ticket; nothing when there is none.
  void Leave();
  [[nodiscard]] bool entered() const { return fd_.open(); }

  // Which of `devices` are to be left to earlier tickets (all tickets when we have none). Removes
  // tickets of dead owners, and takes a new ticket when ours was removed by somebody.
  Result<std::set<DeviceId>> Reserved(const std::vector<DeviceId>& devices);

 private:
  struct Seen {
    bool live = false;
    int64_t touched_ns = 0;
    std::optional<Owner> owner;
  };
  // Numbers of all tickets.
  Result<std::set<uint64_t>> Numbers();
  Result<bool> TryEnter(uint64_t number);
  Seen Look(uint64_t number);
  void Touch();
  [[nodiscard]] int64_t TouchedAt() const;

  const RuntimeDir* dir_;
  std::chrono::milliseconds patience_;
  std::string text_;  // of our ticket
  uint64_t number_ = 0;
  Fd fd_;
};

// The folder of tickets, relative to the device directory.
inline constexpr const char* kQueueFolder = "queue";

}  // namespace kerf::device
