#include "sim/timing/slow_scheduler.h"

#include <algorithm>
#include <deque>
#include <map>

namespace kerf::sim {
namespace {

struct SlowPipe {
  uint64_t free = 0, completed = 0, released = 0;
  std::deque<std::pair<uint32_t, uint64_t>> queue;  // instruction, when it was issued
  uint64_t leaves = 0;                              // the place of the last wait is free from here
};

struct SlowCore {
  uint32_t next = 0;
  std::array<SlowPipe, kPipeCount> pipes;
};

class Slow {
 public:
  Slow(const InstructionLog& log, const CoreModel& model)
      : log_(log),
        model_(model),
        costs_(model),
        contention_(costs_.ContentionOf(log)),
        cores_(log.cores.size()),
        times_(log.cores.size()) {
    for (size_t i = 0; i < cores_.size(); ++i) times_[i].resize(log.cores[i].instructions.size());
  }

  std::vector<std::vector<SlowTime>> Run() {
    for (now_ = 0; now_ <= horizon_ + 1; ++now_) {
      for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t core = 0; core < cores_.size(); ++core) {
          // Pipes first, last to first: not the engine's order.
          for (int pipe = kPipeCount - 1; pipe > 0; --pipe)
            changed = StepPipe(core, static_cast<size_t>(pipe)) || changed;
          changed = StepScalar(core) || changed;
        }
      }
    }
    return std::move(times_);
  }

 private:
  void Reach(uint64_t time) { horizon_ = std::max(horizon_, time); }

  bool StepScalar(uint32_t core) {
    SlowCore& state = cores_[core];
    SlowPipe& scalar = state.pipes[0];
    const auto& program = log_.cores[core].instructions;
    if (state.next == program.size() || now_ < scalar.free) return false;
    const Instruction& record = program[state.next];
    if (record.pipe == 0) {
      if (!Try(core, 0, state.next, now_)) return false;
      ++state.next;
      return true;
    }
    const uint64_t ready = scalar.free + costs_.Issue(record.op);
    Reach(ready);
    SlowPipe& pipe = state.pipes[record.pipe];
    const size_t held = pipe.queue.size() + (pipe.leaves > now_ ? 1 : 0);
    if (now_ < ready || held >= model_.queue_depth) return false;
    pipe.queue.emplace_back(state.next, now_);
    scalar.free = now_;
    ++state.next;
    return true;
  }

  bool StepPipe(uint32_t core, size_t number) {
    SlowPipe& pipe = cores_[core].pipes[number];
    if (pipe.queue.empty() || now_ < pipe.free || now_ < pipe.queue.front().second) return false;
    const auto [index, issued] = pipe.queue.front();
    if (!Try(core, number, index, issued)) return false;
    pipe.queue.pop_front();
    return true;
  }

  // The pipe is free and the instruction is there. A wait that began earlier still starts then.
  bool Try(uint32_t core, size_t number, uint32_t index, uint64_t issued) {
    const Instruction& record = log_.cores[core].instructions[index];
    SlowPipe& pipe = cores_[core].pipes[number];
    SlowTime& time = times_[core][index];
    const uint64_t start = number == 0 ? pipe.free : std::max(pipe.free, issued);
    switch (record.op) {
      case Op::SET_FLAG:
      case Op::CROSS_SET:
        time = {start, std::max(start, pipe.completed) + model_.flag};
        pipe.free = start + model_.flag;
        pipe.completed = std::max(pipe.completed, pipe.free);
        if (record.op == Op::SET_FLAG)
          flags_[FlagKey{core, record.sync.source, record.sync.destination, record.sync.event}]
              .push_back(time.end);
        Reach(time.end + model_.cross_latency);
        break;
      case Op::WAIT_FLAG:
      case Op::CROSS_WAIT:
        if (!(record.op == Op::WAIT_FLAG ? Take(core, record) : TakeCross(core, index)))
          return false;
        Over(pipe, time, start, model_.flag);
        break;
      case Op::PIPE_BARRIER: {
        uint64_t until = pipe.completed;
        if (record.sync.source == static_cast<uint8_t>(Pipe::kAll)) {
          for (const SlowPipe& other : cores_[core].pipes) {
            if (!other.queue.empty()) return false;
            until = std::max(until, other.completed);
          }
        }
        if (now_ < until) return false;
        Over(pipe, time, start, model_.barrier);
        break;
      }
      default: {
        const Cost cost = costs_.Of(record, log_.cores[core].OperandsOf(index), contention_);
        const uint64_t since = std::max(pipe.released, number == 0 ? pipe.free : issued);
        const uint64_t begin = std::max(pipe.free, since + cost.head);
        time = {start, begin + cost.busy + cost.tail};
        pipe.free = begin + cost.busy;
        pipe.completed = std::max(pipe.completed, time.end);
      }
    }
    Reach(time.end);
    return true;
  }

  void Over(SlowPipe& pipe, SlowTime& time, uint64_t start, uint32_t cycles) {
    pipe.free = now_ + cycles;
    pipe.leaves = pipe.free;
    pipe.released = pipe.free;
    pipe.completed = std::max(pipe.completed, pipe.free);
    time = {start, pipe.free};
  }

  static int Place(const CoreLog& core) { return core.kind == CoreKind::kAic ? 0 : 1 + core.lane; }

  using FlagKey = std::array<uint32_t, 4>;

  bool Take(uint32_t core, const Instruction& record) {
    auto& flag =
        flags_[FlagKey{core, record.sync.source, record.sync.destination, record.sync.event}];
    if (flag.empty() || flag.front() > now_) return false;
    flag.pop_front();
    return true;
  }

  // The k-th wait for a sender and id takes the sender's k-th signal, both in program order.
  bool TakeCross(uint32_t core, uint32_t index) {
    const auto& own = log_.cores[core].instructions;
    const kerf_log::Sync& sync = own[index].sync;
    for (int place = 0; place < 3; ++place) {
      if ((sync.peers >> place & 1) == 0 || place == Place(log_.cores[core])) continue;
      int rank = 0;
      for (uint32_t i = 0; i < index; ++i)
        rank += Names(own[i], Op::CROSS_WAIT, sync.event, place) ? 1 : 0;
      if (!Given(core, place, sync.event, rank)) return false;
    }
    return true;
  }

  static bool Names(const Instruction& record, Op op, int event, int place) {
    return record.op == op && record.sync.event == event && (record.sync.peers >> place & 1) != 0;
  }

  bool Given(uint32_t receiver, int place, int event, int rank) {
    for (uint32_t sender = 0; sender < cores_.size(); ++sender) {
      if (Place(log_.cores[sender]) != place) continue;
      const auto& program = log_.cores[sender].instructions;
      for (uint32_t i = 0; i < program.size(); ++i) {
        if (!Names(program[i], Op::CROSS_SET, event, Place(log_.cores[receiver])) || rank-- > 0)
          continue;
        const uint64_t end = times_[sender][i].end;
        return end != kNever && end + model_.cross_latency <= now_;
      }
    }
    return false;
  }

  const InstructionLog& log_;
  const CoreModel& model_;
  CostModel costs_;
  Contention contention_;
  std::vector<SlowCore> cores_;
  std::vector<std::vector<SlowTime>> times_;
  std::map<FlagKey, std::deque<uint64_t>> flags_;
  uint64_t now_ = 0, horizon_ = 0;
};

}  // namespace

std::vector<std::vector<SlowTime>> SlowSchedule(const InstructionLog& log, const CoreModel& model) {
  return Slow(log, model).Run();
}

}  // namespace kerf::sim
