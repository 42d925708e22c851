// Laws of the pipe model on random programs of flags, barriers, signals and work.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/log/log_testing.h"
#include "sim/timing/slow_scheduler.h"
#include "sim/timing/timing.h"
#include "sim/timing/timing_testing.h"

namespace kerf::sim {
namespace {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  Program Make(int cores, int length, bool cross) {
    Program program;
    for (int i = 0; i < cores; ++i) {
      CoreProgram core = i == 0 ? program.Aic() : program.Aiv(0, static_cast<uint8_t>(i - 1));
      pending_.clear();
      crossed_.clear();
      for (int k = 0; k < length; ++k) AddOne(core, i, cores, cross);
    }
    return program;
  }

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

 private:
  Pipe AnyPipe(bool scalar) {
    return static_cast<Pipe>(scalar ? Below(kPipeCount) : 1 + Below(kPipeCount - 1));
  }

  void AddOne(CoreProgram& core, int self, int cores, bool cross) {
    const int what = Below(20);
    if (what < 9) return AddWork(core);
    if (what < 12) {
      const Pipe from = AnyPipe(true);
      const Pipe to = AnyPipe(true);
      if (from == to) return;
      const int event = Below(2);
      core.Set(from, to, event);
      pending_.push_back({from, to, event});
      return;
    }
    if (what < 16) return AddWait(core);
    if (what < 17) {
      core.Barrier(Below(3) == 0 ? Pipe::kAll : AnyPipe(false));
      return;
    }
    if (!cross) return;
    const int peers = Below(1 << cores) & ~(1 << self);
    if (peers == 0) return;
    if (Below(2) == 0) {
      core.CrossSet(AnyPipe(true), Below(2), peers);
    } else if (Below(3) == 0) {
      core.CrossWait(AnyPipe(true), Below(2), peers);
    }
  }

  // Mostly for something that was set, so that many programs come to an end.
  void AddWait(CoreProgram& core) {
    if (pending_.empty() || Below(40) == 0) {
      if (Below(30) == 0) core.Wait(Pipe::kMte2, Pipe::kVector, Below(2));
      return;
    }
    const auto at = static_cast<size_t>(Below(static_cast<int>(pending_.size())));
    const Flag flag = pending_[at];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
    core.Wait(flag.from, flag.to, flag.event);
  }

  void AddWork(CoreProgram& core) {
    const auto rows = static_cast<uint32_t>(1 + Below(12));
    switch (Below(5)) {
      case 0:
        core.Load(0, rows, 64);
        break;
      case 1:
        core.Store(0, rows, 64);
        break;
      case 2:
        core.Op1(Op::SCALAR, Pipe::kScalar, {});
        break;
      case 3:
        core.Op1(Op::TMATMUL, Pipe::kCube,
                 {CoreProgram::Tile(Memory::kL0c, 0, rows, 16, Dtype::kF32, kerf_log::kWrite),
                  CoreProgram::Tile(Memory::kL0a, 0, rows, 64, Dtype::kF16, kerf_log::kRead),
                  CoreProgram::Tile(Memory::kL0b, 0, 64, 16, Dtype::kF16, kerf_log::kRead)});
        break;
      default:
        core.Unary(Below(2) == 0 ? Op::TEXP : Op::TADDS, 8192, 0, rows, 64);
    }
  }

  struct Flag {
    Pipe from, to;
    int event;
  };
  std::mt19937 random_;
  std::vector<Flag> pending_;
  std::vector<Flag> crossed_;
};

// A program without one of its instructions, or with one more before `at`.
InstructionLog Without(const InstructionLog& log, size_t core, size_t at) {
  InstructionLog copy = log;
  CoreLog& stream = copy.cores[core];
  stream.instructions.erase(stream.instructions.begin() + static_cast<std::ptrdiff_t>(at));
  stream.first_operand.erase(stream.first_operand.begin() + static_cast<std::ptrdiff_t>(at));
  return copy;
}

InstructionLog With(const InstructionLog& log, size_t core, size_t at, const Instruction& record) {
  InstructionLog copy = log;
  CoreLog& stream = copy.cores[core];
  stream.instructions.insert(stream.instructions.begin() + static_cast<std::ptrdiff_t>(at), record);
  stream.first_operand.insert(stream.first_operand.begin() + static_cast<std::ptrdiff_t>(at), 0);
  return copy;
}

CoreModel ModelFor(uint32_t seed) {
  CoreModel model = ChipModel(seed % 2 == 0 ? "ascend910b1" : "ascend950");
  constexpr uint32_t kDepths[] = {1, 2, 3, 32};
  model.queue_depth = kDepths[seed / 2 % 4];
  return model;
}

TEST(TimingLaws, TheEngineAgreesWithASlowScheduler) {
  int hung = 0;
  int whole = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomProgram random(seed);
    const int cores = 1 + static_cast<int>(seed % 3);
    const Program program = random.Make(cores, 40, cores > 1);
    const CoreModel model = ModelFor(seed);
    const RunTiming run = Time(program.log, model);
    const auto slow = SlowSchedule(program.log, model);
    for (size_t core = 0; core < slow.size(); ++core) {
      for (size_t i = 0; i < slow[core].size(); ++i) {
        ASSERT_EQ(run.cores[core].times[i].start, slow[core][i].start)
            << "seed " << seed << " core " << core << " instruction " << i;
        ASSERT_EQ(run.cores[core].times[i].end, slow[core][i].end)
            << "seed " << seed << " core " << core << " instruction " << i;
      }
    }
    ++(run.blocked.empty() ? whole : hung);
  }
  // Both kinds are there, or the comparison says little.
  EXPECT_GT(whole, 50);
  EXPECT_GT(hung, 50);
}

TEST(TimingLaws, NothingStartsBeforeItsFlags) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Program program = RandomProgram(seed).Make(1, 120, false);
    const RunTiming run = Time(program.log, ModelFor(seed));
    const auto& times = run.cores[0].times;
    const auto& instructions = program.log.cores[0].instructions;
    std::array<uint64_t, kPipeCount> held{};  // until when a wait held the pipe
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i].start == kNever) continue;
      const uint8_t pipe = instructions[i].pipe;
      EXPECT_GE(times[i].start, std::max(held[pipe], held[0]))
          << "seed " << seed << " instruction " << i;
      if (instructions[i].op != Op::WAIT_FLAG) continue;
      ASSERT_NE(times[i].partner, kNobody);
      EXPECT_GE(times[i].end, times[times[i].partner].end);
      held[pipe] = times[i].end;
    }
  }
}

TEST(TimingLaws, OneMoreWaitNeverEndsEarlierAndOneLessNeverLater) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomProgram random(seed);
    const Program program = random.Make(1, 60, false);
    const CoreModel model = ModelFor(seed);
    const RunTiming run = Time(program.log, model);
    const auto& instructions = program.log.cores[0].instructions;
    if (!run.blocked.empty() || instructions.empty()) continue;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].op != Op::WAIT_FLAG) continue;
      const RunTiming less = Time(Without(program.log, 0, i), model);
      ASSERT_TRUE(less.blocked.empty());
      EXPECT_LE(less.cycles, run.cycles) << "seed " << seed << " without " << i;
      ++compared;
    }
    // A flag that nobody else uses: set somewhere, then waited for behind it.
    Program extra;
    extra.Aiv().Set(Pipe::kMte2, Pipe::kVector, 9).Wait(Pipe::kMte2, Pipe::kVector, 9);
    const Instruction set = extra.log.cores[0].instructions[0];
    const Instruction wait = extra.log.cores[0].instructions[1];
    const auto at = static_cast<size_t>(random.Below(static_cast<int>(instructions.size())));
    const auto behind =
        at + 1 + static_cast<size_t>(random.Below(static_cast<int>(instructions.size() - at)));
    const InstructionLog with_set = With(program.log, 0, at, set);
    const RunTiming before = Time(with_set, model);
    const RunTiming after = Time(With(with_set, 0, behind, wait), model);
    ASSERT_TRUE(before.blocked.empty());
    if (after.blocked.empty()) {
      EXPECT_GE(after.cycles, before.cycles) << "seed " << seed;
    }
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST(TimingLaws, BusyAndStalledMakeTheTotal) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Program program = RandomProgram(seed).Make(3, 60, true);
    const RunTiming run = Time(program.log, ModelFor(seed));
    for (const CoreTiming& core : run.cores) {
      for (const PipeUse& pipe : core.pipes) {
        uint64_t sum = pipe.busy;
        for (const uint64_t cycles : pipe.stalled) sum += cycles;
        EXPECT_EQ(sum, run.cycles) << "seed " << seed;
        if (pipe.instructions == 0 && &pipe != core.pipes.data()) {
          EXPECT_EQ(pipe.busy, 0U);
        }
      }
    }
  }
}

TEST(TimingLaws, TheSameRunTwiceIsTheSame) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Program program = RandomProgram(seed).Make(3, 100, true);
    const CoreModel model = ModelFor(seed);
    const RunTiming first = Time(program.log, model);
    for (int again = 0; again < 5; ++again) {
      const RunTiming other = Time(program.log, model);
      EXPECT_EQ(first.cycles, other.cycles);
      for (size_t core = 0; core < first.cores.size(); ++core) {
        for (size_t i = 0; i < first.cores[core].times.size(); ++i)
          ASSERT_EQ(first.cores[core].times[i].end, other.cores[core].times[i].end);
      }
    }
  }
}

}  // namespace
}  // namespace kerf::sim
