// When each recorded instruction ran, and what kept it waiting.
//
//   const RunTiming timing = Time(log, model);
//   timing.cycles; timing.cores[0].times[7].start
//
// The model: a core is seven agents, the scalar unit and six pipes. The scalar unit goes through
// the recorded instructions in order and puts each into its pipe's queue, which holds a few; a pipe
// takes them in order. An agent runs until it is blocked (a flag that is down, a full queue, a
// barrier, a signal of another core) and is woken by the event it waits for. Every time is a
// maximum of sums of earlier times, so more waiting never makes anything earlier.
//
// Deterministic: the result does not depend on the order in which agents are run.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/log/instruction_log.h"
#include "sim/timing/cost.h"

namespace kerf::sim {

enum class StallReason : uint8_t {
  kNone,
  kIssue,      // a pipe had nothing to do: the scalar unit had not issued it yet
  kScalar,     // … because the scalar unit itself stood still
  kFlag,       // WAIT_FLAG: the flag was down
  kDrain,      // a barrier of one pipe: earlier instructions of it were not complete
  kBarrier,    // a barrier of all pipes
  kQueueFull,  // the scalar unit: no room in a pipe's queue
  kCrossCore,  // a signal of another core
  kMeeting,    // SYNCALL
  kFinished,   // nothing came any more
};
inline constexpr size_t kStallReasons = 10;
const char* StallReasonName(StallReason reason);
// Whether a pipe merely had nothing to do.
inline bool IsIdle(StallReason reason) {
  return reason == StallReason::kIssue || reason == StallReason::kScalar;
}

inline constexpr uint64_t kNever = UINT64_MAX;
inline constexpr uint32_t kNobody = UINT32_MAX;

struct InstructionTime {
  uint64_t start = kNever;     // kNever: it was never reached (a deadlock)
  uint64_t end = kNever;       // its result is there, its flag is up
  uint32_t stall = 0;          // cycles its pipe stood still before it, or in it when it waits
  uint32_t issue_stall = 0;    // cycles the scalar unit waited for room to issue it
  uint32_t partner = kNobody;  // of a wait: the set that satisfied it last
  uint16_t partner_core = 0;
  StallReason reason = StallReason::kNone;  // of `stall`
  CostSource source = CostSource::kTable;
};

struct PipeUse {
  uint64_t busy = 0;
  std::array<uint64_t, kStallReasons> stalled{};  // by reason; busy + stalled = RunTiming::cycles
  uint64_t instructions = 0;
};

struct CoreTiming {
  std::vector<InstructionTime> times;  // by instruction
  std::array<PipeUse, kPipeCount> pipes{};
  uint64_t end = 0;
};

// An agent that never goes on.
struct BlockedAgent {
  uint32_t core = 0;
  Pipe pipe = Pipe::kScalar;
  uint32_t instruction = 0;  // at the head
  StallReason reason = StallReason::kNone;
  uint64_t since = 0;  // it stands there
};

struct RunTiming {
  std::vector<CoreTiming> cores;
  uint64_t cycles = 0;                // until the last instruction of any core is complete
  std::vector<BlockedAgent> blocked;  // not empty: the run hangs
  uint64_t busy_cycles = 0;           // of all pipes
  uint64_t default_cycles = 0;        // of them, from defaults
  Contention contention;
};

// Sees what is executed in an order in which every cause comes before its effect.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  // The instruction gives a signal: what is known to its pipe now is what the taker will know. For
  // SYNCALL this is the arrival, long before Executed().
  virtual void Signalled(uint32_t core, uint32_t index) = 0;
  // `core`'s instruction takes the signal of another; before its Executed().
  virtual void Joined(uint32_t core, uint32_t index, uint32_t from_core, uint32_t from_index) = 0;
  virtual void Executed(uint32_t core, uint32_t index) = 0;
};

RunTiming Time(const InstructionLog& log, const CoreModel& model,
               ExecutionObserver* observer = nullptr);

}  // namespace kerf::sim
