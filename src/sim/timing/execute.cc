// What each instruction does to its pipe's time. `free` is when the pipe can take up the next one,
// `completed` when all results are there; a flag is up one cycle after the latter.
#include <algorithm>

#include "sim/timing/engine.h"

namespace kerf::sim {
namespace {

uint32_t Short(uint64_t cycles) {
  return static_cast<uint32_t>(std::min<uint64_t>(cycles, UINT32_MAX));
}

}  // namespace

bool Engine::Execute(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  bool done = true;
  switch (log_.cores[core].instructions[index].op) {
    case Op::SET_FLAG:
      SetFlag(core, pipe, index, issued);
      break;
    case Op::WAIT_FLAG:
      done = WaitFlag(core, pipe, index, issued);
      break;
    case Op::PIPE_BARRIER:
      done = Barrier(core, pipe, index, issued);
      break;
    case Op::CROSS_SET:
      CrossSet(core, pipe, index, issued);
      break;
    case Op::CROSS_WAIT:
      done = CrossWait(core, pipe, index, issued);
      break;
    case Op::SYNCALL:
      done = Meet(core, index, issued);
      break;
    default:
      Work(core, pipe, index, issued);
  }
  if (!done) return false;
  CoreTiming& timing = timing_.cores[core];
  timing.end = std::max(timing.end, timing.times[index].end);
  ++timing.pipes[pipe].instructions;
  if (observer_ != nullptr) observer_->Executed(core, index);
  return true;
}

uint64_t Engine::Stand(uint32_t core, uint8_t pipe, uint32_t index, uint64_t until,
                       StallReason reason) {
  PipeState& state = cores_[core].pipes[pipe];
  if (until <= state.free) return state.free;
  const uint64_t cycles = until - state.free;
  CoreTiming& timing = timing_.cores[core];
  auto& stalled = timing.pipes[pipe].stalled;
  InstructionTime& time = timing.times[index];
  time.stall = Short(cycles);
  time.reason = reason;
  if (reason == StallReason::kIssue) {
    // As far as the scalar unit was held up itself, that is the reason.
    const uint64_t begin = std::max(state.free, held_.begin);
    const uint64_t end = std::min(until, held_.end);
    const uint64_t held = pipe != 0 && end > begin ? end - begin : 0;
    stalled[static_cast<size_t>(StallReason::kScalar)] += held;
    stalled[static_cast<size_t>(StallReason::kIssue)] += cycles - held;
    if (held * 2 > cycles) time.reason = StallReason::kScalar;
  } else {
    stalled[static_cast<size_t>(reason)] += cycles;
    if (pipe == 0) cores_[core].held = {state.free, until};
  }
  state.free = until;
  return until;
}

void Engine::Work(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  const CoreLog& program = log_.cores[core];
  const Cost cost =
      costs_.Of(program.instructions[index], program.OperandsOf(index), timing_.contention);
  PipeState& state = cores_[core].pipes[pipe];
  // The head is hidden as far as something earlier still runs.
  const uint64_t begin = std::max(state.free, std::max(issued, state.released) + cost.head);
  const uint64_t taken =
      Stand(core, pipe, index, std::max(state.free, begin - cost.head), StallReason::kIssue);
  CoreTiming& timing = timing_.cores[core];
  InstructionTime& time = timing.times[index];
  time.start = taken;
  time.end = begin + cost.busy + cost.tail;
  time.source = cost.source;
  const uint64_t busy = begin + cost.busy - taken;
  timing.pipes[pipe].busy += busy;
  if (cost.source == CostSource::kDefault) timing_.default_cycles += busy;
  state.free = begin + cost.busy;
  state.completed = std::max(state.completed, time.end);
}

void Engine::SetFlag(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  const kerf_log::Sync& sync = log_.cores[core].instructions[index].sync;
  const uint32_t cycles = costs_.model().flag;
  CoreState& state = cores_[core];
  PipeState& source = state.pipes[pipe];
  const uint64_t start = Stand(core, pipe, index, issued, StallReason::kIssue);
  InstructionTime& time = timing_.cores[core].times[index];
  time.start = start;
  time.end = std::max(start, source.completed) + cycles;
  source.free = start + cycles;
  source.completed = std::max(source.completed, source.free);
  timing_.cores[core].pipes[pipe].busy += cycles;
  if (observer_ != nullptr) observer_->Signalled(core, index);
  state.flags[FlagIndex(sync)].Push({time.end, core, index});
  const auto bit = static_cast<uint8_t>(1U << sync.destination);
  if ((state.blocked & bit) != 0 && state.reason[sync.destination] == StallReason::kFlag)
    Wake(core, bit);
}

// A wait: the pipe stands still from `begin` until `until`, then goes on after `cycles`.
void Engine::Waited(uint32_t core, uint8_t pipe, uint32_t index, uint64_t begin, uint64_t until,
                    StallReason reason, uint32_t cycles) {
  PipeState& state = cores_[core].pipes[pipe];
  CoreTiming& timing = timing_.cores[core];
  InstructionTime& time = timing.times[index];
  time.start = begin;
  time.stall = 0;
  time.reason = StallReason::kNone;
  Stand(core, pipe, index, until, reason);
  timing.pipes[pipe].busy += cycles;
  state.free += cycles;
  time.end = state.free;
  state.released = state.free;
  state.completed = std::max(state.completed, state.free);
}

bool Engine::WaitFlag(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  const kerf_log::Sync& sync = log_.cores[core].instructions[index].sync;
  SignalQueue& flag = cores_[core].flags[FlagIndex(sync)];
  if (flag.empty()) {
    Block(core, pipe, StallReason::kFlag);
    return false;
  }
  const Signal signal = flag.front();
  flag.Pop();
  if (observer_ != nullptr) observer_->Joined(core, index, core, signal.index);
  const uint64_t begin = Stand(core, pipe, index, issued, StallReason::kIssue);
  Waited(core, pipe, index, begin, signal.time, StallReason::kFlag, costs_.model().flag);
  InstructionTime& time = timing_.cores[core].times[index];
  time.partner = signal.index;
  time.partner_core = static_cast<uint16_t>(core);
  return true;
}

bool Engine::Barrier(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  CoreState& state = cores_[core];
  const bool all =
      log_.cores[core].instructions[index].sync.source == static_cast<uint8_t>(Pipe::kAll);
  uint64_t until = state.pipes[pipe].completed;
  if (all) {
    for (size_t i = 1; i < kPipeCount; ++i) {
      if (!state.pipes[i].empty()) {
        Block(core, pipe, StallReason::kBarrier);
        return false;
      }
      until = std::max(until, state.pipes[i].completed);
    }
  }
  const uint64_t begin = Stand(core, pipe, index, issued, StallReason::kIssue);
  Waited(core, pipe, index, begin, until, all ? StallReason::kBarrier : StallReason::kDrain,
         costs_.model().barrier);
  return true;
}

void Engine::CrossSet(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  const kerf_log::Sync& sync = log_.cores[core].instructions[index].sync;
  const uint32_t cycles = costs_.model().flag;
  PipeState& source = cores_[core].pipes[pipe];
  const uint64_t start = Stand(core, pipe, index, issued, StallReason::kIssue);
  InstructionTime& time = timing_.cores[core].times[index];
  time.start = start;
  time.end = std::max(start, source.completed) + cycles;
  source.free = start + cycles;
  source.completed = std::max(source.completed, source.free);
  timing_.cores[core].pipes[pipe].busy += cycles;
  if (observer_ != nullptr) observer_->Signalled(core, index);
  for (const uint32_t peer : Peers(core, sync.peers)) {
    uint8_t waiting = 0;
    for (uint8_t i = 0; i < kPipeCount; ++i) {
      if ((cores_[peer].blocked >> i & 1) != 0 && cores_[peer].reason[i] == StallReason::kCrossCore)
        waiting |= static_cast<uint8_t>(1U << i);
    }
    if (waiting != 0) Wake(peer, waiting);
  }
}

const std::vector<uint32_t>& Engine::Peers(uint32_t core, uint8_t peers) {
  const auto [found, fresh] = peers_.try_emplace({core, peers});
  if (fresh) found->second = PeersOf(log_, core, peers);
  return found->second;
}

bool Engine::CrossWait(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued) {
  const std::vector<CrossSignal>& signals = pairs_.taken[core][index];
  uint64_t until = 0;
  CrossSignal last{kNobody, kNobody};
  for (const CrossSignal& signal : signals) {
    const bool given =
        signal.index != kNobody && timing_.cores[signal.core].times[signal.index].end != kNever;
    if (!given) {
      Block(core, pipe, StallReason::kCrossCore);
      return false;
    }
    const uint64_t there =
        timing_.cores[signal.core].times[signal.index].end + costs_.model().cross_latency;
    if (there >= until) last = signal;
    until = std::max(until, there);
  }
  if (observer_ != nullptr) {
    for (const CrossSignal& signal : signals)
      observer_->Joined(core, index, signal.core, signal.index);
  }
  const uint64_t begin = Stand(core, pipe, index, issued, StallReason::kIssue);
  Waited(core, pipe, index, begin, until, StallReason::kCrossCore, costs_.model().flag);
  InstructionTime& time = timing_.cores[core].times[index];
  time.partner = last.index;
  time.partner_core = static_cast<uint16_t>(last.core);
  return true;
}

Engine::Meeting& Engine::MeetingOf(uint32_t core, uint8_t peers) {
  const bool every = (peers & kerf_log::kPeerEveryBlock) != 0;
  return meetings_[{every ? kNobody : log_.cores[core].block, peers, cores_[core].meetings}];
}

bool Engine::Meet(uint32_t core, uint32_t index, uint64_t issued) {
  const uint8_t peers = log_.cores[core].instructions[index].sync.peers;
  CoreState& state = cores_[core];
  Meeting& meeting = MeetingOf(core, peers);
  if (!state.arrived) {
    state.arrived = true;
    if (observer_ != nullptr) observer_->Signalled(core, index);
    meeting.arrived.emplace_back(core, index);
    meeting.time = std::max(meeting.time, issued);
    meeting.complete = meeting.arrived.size() >= Peers(core, peers).size();
    if (meeting.complete) {
      for (const auto& [other, at] : meeting.arrived) {
        if (other != core) Wake(other, 1);
      }
    }
  }
  if (!meeting.complete) {
    Block(core, 0, StallReason::kMeeting);
    return false;
  }
  if (observer_ != nullptr) {
    for (const auto& [other, at] : meeting.arrived) {
      if (other != core) observer_->Joined(core, index, other, at);
    }
  }
  const uint32_t latency = meeting.arrived.size() > 1 ? costs_.model().cross_latency : 0;
  Waited(core, 0, index, issued, meeting.time + latency, StallReason::kMeeting,
         costs_.model().flag);
  state.arrived = false;
  ++state.meetings;
  return true;
}

}  // namespace kerf::sim
