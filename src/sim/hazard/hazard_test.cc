// Each hazard in a small program, and its sound twin without it.
#include "sim/hazard/hazard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/log/log_testing.h"
#include "sim/timing/timing_testing.h"

namespace kerf::sim {
namespace {

constexpr Pipe S = Pipe::kScalar, MTE1 = Pipe::kMte1, MTE2 = Pipe::kMte2, MTE3 = Pipe::kMte3,
               V = Pipe::kVector, M = Pipe::kCube;

std::vector<Hazard> Find(const Program& program, const char* chip = "ascend910b1") {
  return TimeAndCheck(program.log, ChipModel(chip)).hazards;
}

std::string Text(const Program& program, const std::vector<Hazard>& hazards) {
  std::string text;
  for (const Hazard& hazard : hazards) {
    text += std::string(HazardKindName(hazard.kind)) + ": " + hazard.what + " [";
    for (const HazardPlace& place : hazard.places) text += DescribePlace(program.log, place) + "; ";
    text += "] x" + std::to_string(hazard.count) + "\n";
  }
  return text;
}

void ExpectClean(const Program& program, const char* chip = "ascend910b1") {
  const auto hazards = Find(program, chip);
  EXPECT_TRUE(hazards.empty()) << Text(program, hazards);
}

// Exactly one, of that kind, at these lines of kernel.cpp.
void ExpectOne(const Program& program, HazardKind kind, const std::vector<uint32_t>& lines,
               const char* chip = "ascend910b1") {
  const auto hazards = Find(program, chip);
  ASSERT_EQ(hazards.size(), 1U) << Text(program, hazards);
  EXPECT_EQ(hazards[0].kind, kind) << Text(program, hazards);
  std::vector<uint32_t> found;
  for (const HazardPlace& place : hazards[0].places)
    found.push_back(
        program.log.sites[program.log.cores[place.core].instructions[place.instruction].site].line);
  EXPECT_EQ(found, lines) << Text(program, hazards);
}

TEST(Hazards, ASoundPingPongLoopIsClean) {
  Program program;
  CoreProgram p = program.Aiv();
  for (int buffer = 0; buffer < 2; ++buffer) p.Set(V, MTE2, buffer).Set(MTE3, V, buffer);
  for (int i = 0; i < 8; ++i) {
    const int b = i % 2;
    const auto at = static_cast<uint64_t>(b) * 32768;
    p.Wait(V, MTE2, b).Load(at, 24, 64).Set(MTE2, V, b).Wait(MTE2, V, b).Wait(MTE3, V, b);
    p.Unary(Op::TEXP, at + 8192, at, 24, 64).Set(V, MTE2, b).Set(V, MTE3, b);
    p.Wait(V, MTE3, b).Store(at + 8192, 24, 64).Set(MTE3, V, b);
  }
  for (int buffer = 0; buffer < 2; ++buffer) p.Wait(V, MTE2, buffer).Wait(MTE3, V, buffer);
  ExpectClean(program);
}

TEST(Hazards, ReadBeforeTheLoadIsOrdered) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram p = program.Aiv();
    p.Load(0, 24, 64);
    if (sound) p.Set(MTE2, V, 0).Wait(MTE2, V, 0);
    p.Unary(Op::TEXP, 8192, 0, 24, 64);
    if (sound) {
      ExpectClean(program);
    } else {
      ExpectOne(program, HazardKind::kRace, {1, 2});
    }
  }
}

TEST(Hazards, OverwritingWhatIsStillStored) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram p = program.Aiv();
    p.Store(0, 24, 64);
    if (sound) p.Set(MTE3, MTE2, 0).Wait(MTE3, MTE2, 0);
    p.Load(0, 24, 64);
    if (sound) {
      ExpectClean(program);
    } else {
      ExpectOne(program, HazardKind::kRace, {1, 2});
    }
  }
}

TEST(Hazards, TwoWritersOfOneBuffer) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram p = program.Aiv();
    p.Load(0, 24, 64).Unary(Op::TEXPANDS, sound ? 32768 : 0, 65536, 24, 64);
    if (sound) {
      ExpectClean(program);
    } else {
      ExpectOne(program, HazardKind::kRace, {1, 2});
    }
  }
}

TEST(Hazards, TilesSideBySideDoNotOverlap) {
  Program program;
  CoreProgram p = program.Aiv();
  Operand left = CoreProgram::Ub(0, 16, 64, kerf_log::kWrite);
  left.valid_columns = 32;
  left.bytes = 15 * 256 + 128;
  Operand right = left;
  right.address = 128;
  p.Op1(Op::TLOAD, MTE2, {left}, 2048).Op1(Op::TEXPANDS, V, {right});
  ExpectClean(program);
  right.address = 124;
  p.Op1(Op::TMULS, V, {right});
  EXPECT_EQ(Find(program).size(), 2U);  // with the load, and with the vector instruction before it
}

TEST(Hazards, DependentVectorInstructionsNeedABarrier) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram p = program.Aiv();
    p.Unary(Op::TEXP, 8192, 0, 24, 64);
    if (sound) p.Barrier(V);
    p.Unary(Op::TLOG, 16384, 8192, 24, 64);
    if (sound) {
      ExpectClean(program);
    } else {
      ExpectOne(program, HazardKind::kMissingBarrier, {1, 2});
      ExpectClean(program, "ascend950");  // its vector pipe sees to that itself
    }
  }
}

TEST(Hazards, ScalarStoresNeedAFlag) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram p = program.Aiv();
    p.Op1(Op::SET_VALUE, S, {CoreProgram::Ub(0, 1, 1, kerf_log::kWrite)});
    if (sound) p.Set(S, V, 0).Wait(S, V, 0);
    p.Unary(Op::TEXP, 8192, 0, 24, 64);
    if (sound) {
      ExpectClean(program);
    } else {
      ExpectOne(program, HazardKind::kRace, {1, 2});
    }
  }
}

TEST(Hazards, AScalarReadIsOverBeforeLaterWork) {
  Program program;
  program.Aiv().Op1(Op::GET_VALUE, S, {CoreProgram::Ub(0, 1, 1, kerf_log::kRead)}).Load(0, 24, 64);
  ExpectClean(program);
}

TEST(Hazards, WhatTheScalarUnitWaitedForIsKnownToWhatItIssuesLater) {
  Program program;
  program.Aiv().Load(0, 24, 64).Set(MTE2, S, 0).Wait(MTE2, S, 0).Unary(Op::TEXP, 8192, 0, 24, 64);
  ExpectClean(program);
}

TEST(Hazards, ABarrierOfAllPipesOrdersEverything) {
  Program program;
  CoreProgram p = program.Aiv();
  for (int i = 0; i < 3; ++i) {
    p.Load(0, 24, 64).Barrier(Pipe::kAll).Unary(Op::TEXP, 8192, 0, 24, 64).Barrier(Pipe::kAll);
    p.Store(8192, 24, 64).Barrier(Pipe::kAll);
  }
  ExpectClean(program);
}

TEST(Hazards, WaitWithoutSet) {
  Program program;
  program.Aiv().Load(0, 24, 64).Set(MTE2, V, 1).Wait(MTE2, V, 0);
  ExpectOne(program, HazardKind::kWaitWithoutSet, {3});
  EXPECT_NE(Find(program)[0].what.find("event 1 is set at kernel.cpp:2"), std::string::npos);
}

TEST(Hazards, SetNeverWaited) {
  Program program;
  program.Aiv().Load(0, 24, 64).Set(MTE2, V, 1);
  ExpectOne(program, HazardKind::kSetNeverWaited, {2});
}

TEST(Hazards, AFlagLeftSet) {
  Program program;
  CoreProgram p = program.Aiv();
  p.Load(0, 24, 64).Set(MTE2, V, 0).Wait(MTE2, V, 0).Barrier(Pipe::kAll).Set(MTE2, V, 0);
  ExpectOne(program, HazardKind::kFlagLeftSet, {5});
}

TEST(Hazards, ADoubleSet) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram p = program.Aiv();
    p.Set(MTE2, V, 0).Wait(MTE2, V, 0);
    if (sound) p.Set(V, MTE2, 0).Wait(V, MTE2, 0);
    p.Set(MTE2, V, 0).Wait(MTE2, V, 0);
    if (sound) {
      ExpectClean(program);
    } else {
      // The first wait may come after the second set on the chip, whatever the times of this run
      // say.
      ExpectOne(program, HazardKind::kDoubleSet, {1, 3});
      EXPECT_TRUE(Find(program)[0].warning);
    }
  }
}

TEST(Hazards, ADoubleSetThatHappensIsNoMereWarning) {
  Program program;
  CoreProgram p = program.Aiv();
  p.Unary(Op::TEXP, 8192, 0, 64, 64).Set(MTE2, V, 0).Set(MTE2, V, 0);
  p.Wait(MTE2, V, 0).Wait(MTE2, V, 0);
  ExpectOne(program, HazardKind::kDoubleSet, {2, 3});
  EXPECT_FALSE(Find(program)[0].warning);
}

TEST(Hazards, ADeadlockShowsItsCycle) {
  Program program;
  program.Aiv().Wait(MTE3, V, 0).Set(V, MTE3, 0).Wait(V, MTE3, 0).Set(MTE3, V, 0);
  const auto hazards = Find(program);
  ASSERT_EQ(hazards.size(), 1U) << Text(program, hazards);
  EXPECT_EQ(hazards[0].kind, HazardKind::kDeadlock);
  EXPECT_EQ(hazards[0].places.size(), 2U);
  EXPECT_NE(hazards[0].what.find("MTE3"), std::string::npos);
  EXPECT_NE(hazards[0].what.find("VECTOR"), std::string::npos);
}

TEST(Hazards, TheScalarUnitInADeadlock) {
  Program program;
  program.Aiv().Wait(V, S, 0).Load(0, 24, 64).Set(V, S, 0);
  const auto hazards = Find(program);
  ASSERT_EQ(hazards.size(), 1U);
  // It waits for something that only it could issue.
  EXPECT_EQ(hazards[0].kind, HazardKind::kDeadlock);
  EXPECT_EQ(hazards[0].places.size(), 1U);
}

TEST(Hazards, CoresInADeadlock) {
  Program program;
  program.Aic().CrossWait(S, 0, kerf_log::kPeerAiv0).CrossSet(Pipe::kFix, 1, kerf_log::kPeerAiv0);
  program.Aiv().CrossWait(S, 1, kerf_log::kPeerAic).CrossSet(MTE3, 0, kerf_log::kPeerAic);
  const auto hazards = Find(program);
  ASSERT_EQ(hazards.size(), 1U) << Text(program, hazards);
  EXPECT_EQ(hazards[0].kind, HazardKind::kDeadlock);
  EXPECT_EQ(hazards[0].places.size(), 2U);
}

TEST(Hazards, APeerThatIsNotThere) {
  Program program;
  program.Aic().CrossWait(S, 0, kerf_log::kPeerAiv0);
  const auto hazards = Find(program);
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_EQ(hazards[0].kind, HazardKind::kWaitWithoutSet);
  EXPECT_NE(hazards[0].what.find("not part of the run"), std::string::npos);
}

TEST(Hazards, AWaitForNobody) {
  Program program;
  program.Aic().CrossSet(S, 1, 0).CrossWait(S, 0, 0);
  const auto hazards = Find(program);
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_EQ(hazards[0].kind, HazardKind::kWaitWithoutSet);
}

TEST(Hazards, CoresOrderedBySignals) {
  for (const bool sound : {true, false}) {
    Program program;
    CoreProgram aic = program.Aic();
    CoreProgram aiv = program.Aiv();
    aic.Op1(Op::TPUSH, Pipe::kFix, {CoreProgram::Gm(4096, 16, 64, kerf_log::kWrite)}, 4096);
    aic.CrossSet(Pipe::kFix, 0, kerf_log::kPeerAiv0);
    const auto pop = [&] {
      aiv.Op1(Op::TPOP, MTE2,
              {CoreProgram::Ub(0, 16, 64, kerf_log::kWrite),
               CoreProgram::Gm(4096, 16, 64, kerf_log::kRead)},
              4096);
    };
    if (!sound) pop();
    aiv.CrossWait(S, 0, kerf_log::kPeerAic);
    if (sound) pop();
    if (sound) {
      ExpectClean(program);
    } else {
      ExpectOne(program, HazardKind::kRace, {1, 1});
    }
  }
}

TEST(Hazards, ACubePipelineIsClean) {
  Program program;
  CoreProgram p = program.Aic();
  const auto tile = [](Memory memory, uint8_t access) {
    return CoreProgram::Tile(memory, 0, 64, 64, Dtype::kF16, access);
  };
  p.Op1(Op::TLOAD, MTE2, {tile(Memory::kL1, kerf_log::kWrite)}, 8192)
      .Set(MTE2, MTE1, 0)
      .Wait(MTE2, MTE1, 0);
  p.Op1(Op::TMOV, MTE1, {tile(Memory::kL0a, kerf_log::kWrite), tile(Memory::kL1, kerf_log::kRead)},
        8192);
  p.Op1(Op::TMOV, MTE1, {tile(Memory::kL0b, kerf_log::kWrite), tile(Memory::kL1, kerf_log::kRead)},
        8192);
  p.Set(MTE1, M, 0).Wait(MTE1, M, 0);
  p.Op1(Op::TMATMUL, M,
        {tile(Memory::kL0c, kerf_log::kWrite), tile(Memory::kL0a, kerf_log::kRead),
         tile(Memory::kL0b, kerf_log::kRead)});
  p.Set(M, Pipe::kFix, 0).Wait(M, Pipe::kFix, 0);
  p.Op1(Op::TSTORE, Pipe::kFix,
        {CoreProgram::Gm(0, 64, 64, kerf_log::kWrite), tile(Memory::kL0c, kerf_log::kRead)}, 16384);
  ExpectClean(program);
}

TEST(Hazards, ARepeatedHazardIsReportedOnce) {
  Program program;
  CoreProgram p = program.Aiv();
  Instruction load;
  load.op = Op::TLOAD;
  load.pipe = static_cast<uint8_t>(MTE2);
  load.site = 0;
  program.log.sites.push_back({.file = 1, .line = 77});
  program.log.sites.push_back({.file = 1, .line = 78});
  load.site = 1;
  Instruction use = load;
  use.op = Op::TEXP;
  use.pipe = static_cast<uint8_t>(V);
  use.site = 2;
  for (int i = 0; i < 1000; ++i) {
    p.Add(load, {CoreProgram::Ub(0, 1, 64, kerf_log::kWrite)})
        .Add(use, {CoreProgram::Ub(0, 1, 64, kerf_log::kRead)});
  }
  const auto hazards = Find(program);
  ASSERT_LE(hazards.size(), 2U);
  EXPECT_GT(hazards[0].count, 100U);
}

TEST(Hazards, ALogThatWasCutOffProvesNothing) {
  Program program;
  program.Aiv().Load(0, 24, 64).Set(MTE2, V, 1).Wait(MTE2, V, 0);
  program.log.complete = false;
  const auto hazards = Find(program);
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_TRUE(hazards[0].warning);
}

}  // namespace
}  // namespace kerf::sim
