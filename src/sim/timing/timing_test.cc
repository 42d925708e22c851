#include "sim/timing/timing.h"

#include <gtest/gtest.h>

#include "sim/log/log_testing.h"
#include "sim/timing/timing_testing.h"

namespace kerf::sim {
namespace {

constexpr Pipe S = Pipe::kScalar, MTE2 = Pipe::kMte2, MTE3 = Pipe::kMte3, V = Pipe::kVector;

// Load 24×64, add a scalar, logarithm, store: worked out by hand from the public constants.
void Chain(CoreProgram p) {
  p.Load(0, 24, 64).Set(MTE2, V, 0).Wait(MTE2, V, 0);
  p.Unary(Op::TADDS, 8192, 0, 24, 64).Barrier(V).Unary(Op::TLOG, 16384, 8192, 24, 64);
  p.Set(V, MTE3, 0).Wait(V, MTE3, 0).Store(16384, 24, 64);
}

TEST(Timing, TheChainWorkedByHand) {
  Program program;
  Chain(program.Aiv());
  const RunTiming run = Time(program.log, FlatModel());
  const auto& t = run.cores[0].times;
  EXPECT_EQ(t[0].end - t[0].start, 104U);  // 6144 bytes at 100.9 GiB/s
  EXPECT_EQ(t[3].end - t[3].start, 55U);   // 13 + 24·1 + 18
  EXPECT_EQ(t[5].end - t[5].start, 81U);   // 13 + 24·2 + 20
  EXPECT_EQ(t[8].end - t[8].start, 56U);
  EXPECT_EQ(run.cycles, 296U + 5);  // and one for each flag, wait and barrier
}

TEST(Timing, DoubleBufferingOverlaps) {
  Program program;
  CoreProgram p = program.Aiv();
  for (int half = 0; half < 2; ++half) {
    const uint64_t at = half == 0 ? 0 : 4096;
    p.Load(at, 12, 64).Set(MTE2, V, half);
  }
  for (int half = 0; half < 2; ++half) {
    const uint64_t at = half == 0 ? 0 : 4096;
    p.Wait(MTE2, V, half).Unary(Op::TADDS, 8192 + at, at, 12, 64).Set(V, MTE3, half);
    p.Wait(V, MTE3, half).Store(8192 + at, 12, 64);
  }
  const RunTiming run = Time(program.log, FlatModel());
  const auto& t = run.cores[0].times;
  EXPECT_EQ(t[2].start, 53U);         // the second load follows the first and its flag at once
  EXPECT_LT(t[2].start, t[8].start);  // long before the first store
}

TEST(Timing, AHeadIsHiddenBehindAnEarlierInstruction) {
  Program program;
  program.Aiv().Unary(Op::TADDS, 8192, 0, 24, 64).Unary(Op::TADDS, 16384, 0, 24, 64);
  const RunTiming run = Time(program.log, FlatModel());
  EXPECT_EQ(run.cores[0].times[1].start, 13U + 24);
  EXPECT_EQ(run.cycles, 13U + 24 + 24 + 18);
}

TEST(Timing, ABarrierOfAllPipesDrainsThemAndHoldsIssue) {
  Program program;
  program.Aiv().Load(0, 24, 64).Barrier(Pipe::kAll).Unary(Op::TADDS, 8192, 0, 24, 64);
  const RunTiming run = Time(program.log, FlatModel());
  const auto& t = run.cores[0].times;
  EXPECT_EQ(t[1].end, 105U);
  EXPECT_GE(t[2].start, 105U);
  EXPECT_EQ(t[1].reason, StallReason::kBarrier);
}

TEST(Timing, AWaitOfTheScalarUnitHoldsEverythingBehindIt) {
  Program program;
  program.Aiv().Load(0, 24, 64).Set(MTE2, S, 0).Wait(MTE2, S, 0).Store(0, 1, 64);
  const RunTiming run = Time(program.log, FlatModel());
  EXPECT_GE(run.cores[0].times[3].start, run.cores[0].times[1].end);
}

TEST(Timing, APipeThatIsIdleBecauseTheScalarUnitWaitsSaysSo) {
  Program program;
  program.Aiv().Load(0, 24, 64).Set(MTE2, S, 0).Wait(MTE2, S, 0).Store(0, 1, 64);
  const RunTiming run = Time(program.log, FlatModel());
  const InstructionTime& store = run.cores[0].times[3];
  EXPECT_EQ(store.reason, StallReason::kScalar);
  const auto& stalled = run.cores[0].pipes[static_cast<size_t>(MTE3)].stalled;
  EXPECT_EQ(stalled[static_cast<size_t>(StallReason::kScalar)], 105U);  // the load and its flag
  EXPECT_EQ(stalled[static_cast<size_t>(StallReason::kIssue)], 1U);     // the wait's own cycle
}

TEST(Timing, AFullQueueHoldsTheScalarUnit) {
  CoreModel model = FlatModel();
  model.queue_depth = 2;
  Program program;
  CoreProgram p = program.Aiv();
  for (int i = 0; i < 4; ++i) p.Load(0, 24, 64);
  p.Store(0, 1, 64);
  const RunTiming run = Time(program.log, model);
  // The queue has room for the fourth load once the second is taken up.
  EXPECT_EQ(run.cores[0].times[3].issue_stall, 104U);
  EXPECT_EQ(run.cores[0].times[4].start, 104U);
  EXPECT_EQ(run.cores[0].pipes[0].stalled[static_cast<size_t>(StallReason::kQueueFull)], 104U);
}

TEST(Timing, AWaitMayComeBeforeItsSetInTheProgram) {
  Program program;
  program.Aiv().Wait(MTE2, V, 0).Unary(Op::TADDS, 8192, 0, 1, 64).Load(0, 24, 64).Set(MTE2, V, 0);
  const RunTiming run = Time(program.log, FlatModel());
  EXPECT_TRUE(run.blocked.empty());
  EXPECT_EQ(run.cores[0].times[0].end, 106U);
  EXPECT_EQ(run.cores[0].times[0].partner, 3U);
}

TEST(Timing, CoresWaitForEachOthersSignals) {
  Program program;
  const CoreModel model = ChipModel("ascend910b1");
  CoreProgram aic = program.Aic();
  CoreProgram aiv0 = program.Aiv(0, 0);
  CoreProgram aiv1 = program.Aiv(0, 1);
  aiv0.Load(0, 24, 64).CrossSet(MTE2, 3, kerf_log::kPeerAic);
  aiv1.Load(0, 48, 64).CrossSet(MTE2, 3, kerf_log::kPeerAic);
  aic.CrossWait(S, 3, kerf_log::kPeerAiv0 | kerf_log::kPeerAiv1);
  const RunTiming run = Time(program.log, model);
  ASSERT_TRUE(run.blocked.empty());
  const InstructionTime& wait = run.cores[0].times[0];
  EXPECT_EQ(wait.end, run.cores[2].times[1].end + model.cross_latency + 1);
  EXPECT_EQ(wait.partner_core, 2);
  EXPECT_EQ(wait.reason, StallReason::kCrossCore);
}

TEST(Timing, CoresMeet) {
  Program program;
  for (uint32_t block = 0; block < 3; ++block) {
    CoreProgram p = program.Aiv(block);
    for (uint32_t i = 0; i <= block; ++i) p.Load(0, 24, 64);
    p.Barrier(Pipe::kAll)
        .Sync(Op::SYNCALL, S, S, S, 0, kerf_log::kPeerAiv0 | kerf_log::kPeerEveryBlock);
  }
  const RunTiming run = Time(program.log, FlatModel());
  ASSERT_TRUE(run.blocked.empty());
  EXPECT_EQ(run.cores[0].times.back().end, run.cores[2].times.back().end);
}

TEST(Timing, WhatHangsIsSaid) {
  Program program;
  program.Aiv().Wait(MTE2, V, 0).Wait(MTE3, S, 1).Load(0, 1, 64);
  const RunTiming run = Time(program.log, FlatModel());
  ASSERT_EQ(run.blocked.size(), 2U);
  EXPECT_EQ(run.blocked[0].pipe, S);
  EXPECT_EQ(run.blocked[0].instruction, 1U);
  EXPECT_EQ(run.blocked[1].pipe, V);
  EXPECT_EQ(run.cores[0].times[2].start, kNever);
}

TEST(Timing, ManyCoresShareTheMemory) {
  Program one;
  Program many;
  one.Aiv().Load(0, 48, 64);
  for (uint32_t block = 0; block < 48; ++block) many.Aiv(block).Load(0, 48, 64);
  const CoreModel model = ChipModel("ascend910b1");
  EXPECT_EQ(Time(one.log, model).contention.read, 1.0);
  EXPECT_GT(Time(many.log, model).cycles, 2 * Time(one.log, model).cycles);
}

}  // namespace
}  // namespace kerf::sim
