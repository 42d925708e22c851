// The state of a core's agents while a run is timed.
#pragma once

#include <vector>

#include "sim/timing/fifo.h"
#include "sim/timing/timing.h"

namespace kerf::sim {

struct Signal {
  uint64_t time = 0;
  uint32_t core = 0;
  uint32_t index = 0;
};

// Signals raised and not yet taken, oldest first. At most one in a sound program.
using SignalQueue = Fifo<Signal>;

// When the scalar unit last stood still.
struct Held {
  uint64_t begin = 0, end = 0;
};

struct PipeState {
  struct Slot {
    uint32_t index = 0;
    uint64_t issued = 0;    // when the scalar unit put it here
    uint64_t dequeued = 0;  // when the pipe took it: there is room again
    Held held;              // before it was issued
  };
  uint64_t free = 0;       // the next instruction may be taken up
  uint64_t completed = 0;  // everything so far is complete
  uint64_t released = 0;   // the last wait or barrier was over: no head is hidden before it
  uint64_t issued = 0;     // instructions put into the queue, and executed
  uint64_t executed = 0;
  std::vector<Slot> slots;  // a ring

  [[nodiscard]] bool empty() const { return issued == executed; }
};

struct CoreState {
  uint32_t next = 0;                        // the scalar unit's next instruction
  std::array<PipeState, kPipeCount> pipes;  // [0] is the scalar unit; it has no queue
  uint8_t ready = 0;                        // agents that may be able to go on, by bit
  uint8_t blocked = 0;                      // agents that wait for a signal
  bool listed = false;                      // on the engine's list
  std::array<StallReason, kPipeCount> reason{};
  std::vector<SignalQueue> flags;  // by FlagIndex
  Held held;
  uint32_t meetings = 0;  // SYNCALLs passed
  bool arrived = false;   // at the next one
};

inline size_t FlagIndex(const kerf_log::Sync& sync) {
  return (size_t{sync.source} * kPipeCount + sync.destination) * 16 + sync.event;
}

}  // namespace kerf::sim
