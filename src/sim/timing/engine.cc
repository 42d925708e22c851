#include "sim/timing/engine.h"

#include <algorithm>
#include <bit>

namespace kerf::sim {

namespace {

bool Waits(Op op) { return op == Op::WAIT_FLAG || op == Op::PIPE_BARRIER || op == Op::CROSS_WAIT; }

}  // namespace

const char* StallReasonName(StallReason reason) {
  constexpr const char* kNames[kStallReasons] = {"none",    "issue",   "scalar",     "flag",
                                                 "drain",   "barrier", "queue full", "cross core",
                                                 "meeting", "finished"};
  return kNames[static_cast<uint8_t>(reason)];
}

Engine::Engine(const InstructionLog& log, const CoreModel& model, ExecutionObserver* observer)
    : log_(log),
      costs_(model),
      observer_(observer),
      pairs_(PairCrossSignals(log)),
      cores_(log.cores.size()) {
  timing_.contention = costs_.ContentionOf(log);
  timing_.cores.resize(log.cores.size());
  for (uint32_t i = 0; i < cores_.size(); ++i) {
    CoreState& state = cores_[i];
    state.flags.resize(kPipeCount * kPipeCount * 16);
    for (PipeState& pipe : state.pipes) pipe.slots.resize(model.queue_depth);
    timing_.cores[i].times.resize(log.cores[i].instructions.size());
    Wake(i, 1);
  }
}

RunTiming Engine::Run() {
  while (!list_.empty()) {
    const uint32_t core = list_.front();
    list_.pop_front();
    cores_[core].listed = false;
    running_ = core;
    RunCore(core);
    running_ = kNobody;
  }
  Finish();
  return std::move(timing_);
}

void Engine::Wake(uint32_t core, uint8_t agents) {
  CoreState& state = cores_[core];
  state.ready |= agents;
  state.blocked &= static_cast<uint8_t>(~agents);
  if (state.ready == 0 || state.listed || core == running_) return;
  state.listed = true;
  list_.push_back(core);
}

void Engine::Block(uint32_t core, uint8_t pipe, StallReason reason) {
  cores_[core].blocked |= static_cast<uint8_t>(1U << pipe);
  cores_[core].reason[pipe] = reason;
}

void Engine::RunCore(uint32_t core) {
  CoreState& state = cores_[core];
  while (state.ready != 0) {
    const auto agent = static_cast<uint8_t>(std::countr_zero(state.ready));
    state.ready &= static_cast<uint8_t>(state.ready - 1);
    if (agent == 0) {
      RunScalar(core);
    } else {
      RunPipe(core, agent);
    }
  }
}

void Engine::RunScalar(uint32_t core) {
  CoreState& state = cores_[core];
  const std::vector<Instruction>& program = log_.cores[core].instructions;
  while (state.next < program.size()) {
    const uint32_t index = state.next;
    const bool done = program[index].pipe == 0 ? Execute(core, 0, index, state.pipes[0].free)
                                               : Issue(core, index);
    if (!done) return;
    ++state.next;
  }
}

bool Engine::Issue(uint32_t core, uint32_t index) {
  CoreState& state = cores_[core];
  const Instruction& record = log_.cores[core].instructions[index];
  PipeState& pipe = state.pipes[record.pipe];
  const size_t depth = pipe.slots.size();
  if (pipe.issued - pipe.executed == depth) {
    Block(core, 0, StallReason::kQueueFull);
    return false;
  }
  PipeState& scalar = state.pipes[0];
  PipeUse& use = timing_.cores[core].pipes[0];
  const uint32_t cycles = costs_.Issue(record.op);
  uint64_t time = scalar.free + cycles;
  use.busy += cycles;
  PipeState::Slot& slot = pipe.slots[pipe.issued % depth];
  if (pipe.issued >= depth && slot.dequeued > time) {
    const uint64_t stall = slot.dequeued - time;
    use.stalled[static_cast<size_t>(StallReason::kQueueFull)] += stall;
    timing_.cores[core].times[index].issue_stall =
        static_cast<uint32_t>(std::min<uint64_t>(stall, UINT32_MAX));
    state.held = {time, slot.dequeued};
    time = slot.dequeued;
  }
  scalar.free = time;
  slot.index = index;
  slot.issued = time;
  slot.held = state.held;
  ++pipe.issued;
  const auto bit = static_cast<uint8_t>(1U << record.pipe);
  if ((state.blocked & bit) == 0) state.ready |= bit;
  return true;
}

void Engine::RunPipe(uint32_t core, uint8_t number) {
  CoreState& state = cores_[core];
  PipeState& pipe = state.pipes[number];
  while (!pipe.empty()) {
    PipeState::Slot& slot = pipe.slots[pipe.executed % pipe.slots.size()];
    held_ = slot.held;
    if (!Execute(core, number, slot.index, slot.issued)) return;
    // What waits keeps its place until it is over, everything else until the pipe takes it up.
    const InstructionTime& time = timing_.cores[core].times[slot.index];
    slot.dequeued = Waits(log_.cores[core].instructions[slot.index].op) ? time.end : time.start;
    ++pipe.executed;
    const StallReason scalar = state.reason[0];
    if ((state.blocked & 1U) != 0 &&
        (scalar == StallReason::kQueueFull || (scalar == StallReason::kBarrier && pipe.empty())))
      Wake(core, 1);
  }
}

void Engine::Finish() {
  for (uint32_t i = 0; i < cores_.size(); ++i) {
    CoreTiming& core = timing_.cores[i];
    for (const PipeState& pipe : cores_[i].pipes) core.end = std::max(core.end, pipe.free);
    timing_.cycles = std::max(timing_.cycles, core.end);
  }
  for (uint32_t i = 0; i < cores_.size(); ++i) {
    for (uint8_t pipe = 0; pipe < kPipeCount; ++pipe) {
      PipeUse& use = timing_.cores[i].pipes[pipe];
      uint64_t stalled = 0;
      for (const uint64_t cycles : use.stalled) stalled += cycles;
      use.stalled[static_cast<size_t>(StallReason::kFinished)] +=
          timing_.cycles - std::min(timing_.cycles, use.busy + stalled);
      timing_.busy_cycles += use.busy;
    }
    FindBlocked(i);
  }
}

void Engine::FindBlocked(uint32_t core) {
  const CoreState& state = cores_[core];
  if (state.next < log_.cores[core].instructions.size())
    timing_.blocked.push_back(
        {core, Pipe::kScalar, state.next, state.reason[0], state.pipes[0].free});
  for (uint8_t pipe = 1; pipe < kPipeCount; ++pipe) {
    const PipeState& at = state.pipes[pipe];
    if (at.empty()) continue;
    const PipeState::Slot& head = at.slots[at.executed % at.slots.size()];
    timing_.blocked.push_back({core, static_cast<Pipe>(pipe), head.index, state.reason[pipe],
                               std::max(at.free, head.issued)});
  }
}

RunTiming Time(const InstructionLog& log, const CoreModel& model, ExecutionObserver* observer) {
  return Engine(log, model, observer).Run();
}

}  // namespace kerf::sim
