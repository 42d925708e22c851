#include "sim/log/instruction_log.h"

#include <gtest/gtest.h>
#include <kerf_log/writer.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace kerf::sim {
namespace {

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    std::string name = ::testing::TempDir() + "kerf_log_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/run.kilog";
  }
  ~LogTest() override { std::filesystem::remove_all(folder_); }

  // One vector core: a set, a wait, an addition with three operands.
  void WriteSmall(bool close) {
    kerf_log::LogFile file;
    ASSERT_TRUE(file.Open(path_.c_str())) << file.error();
    kerf_log::CoreLog core(file, CoreKind::kAiv, 2, 1);
    const uint32_t outer = core.SiteOf("kernel.cpp", 30, 0, "kernel_entry");
    core.PushFrame(outer);
    const uint32_t site = core.SiteOf("kernel.cpp", 12, 3, "step");
    core.PopFrame();
    const kerf_log::Sync flag{static_cast<uint8_t>(Pipe::kMte2),
                              static_cast<uint8_t>(Pipe::kVector), 3, 0, 0};
    core.AddSync(Op::SET_FLAG, Pipe::kMte2, site, flag);
    core.AddSync(Op::WAIT_FLAG, Pipe::kVector, site, flag);
    Instruction& add = core.Begin(Op::TADD, Pipe::kVector, site);
    add.operations = 64;
    Operand tile{.address = 256,
                 .bytes = 256,
                 .rows = 1,
                 .columns = 64,
                 .valid_rows = 1,
                 .valid_columns = 64,
                 .memory = Memory::kUb,
                 .dtype = Dtype::kF32};
    for (int i = 0; i < 3; ++i) core.Add(tile);
    core.End();
    core.Flush();
    if (!close) std::filesystem::copy_file(path_, folder_ + "/killed");
  }

  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string folder_, path_;
};

TEST_F(LogTest, WhatIsWrittenIsRead) {
  WriteSmall(true);
  const auto log = ReadInstructionLog(path_);
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_TRUE(log->Whole());
  ASSERT_EQ(log->cores.size(), 1U);
  const CoreLog& core = log->cores[0];
  EXPECT_EQ(core.Name(), "core2.veccore1");
  ASSERT_EQ(core.instructions.size(), 3U);
  EXPECT_EQ(core.instructions[1].sync.event, 3);
  EXPECT_EQ(core.instructions[2].op, Op::TADD);
  EXPECT_EQ(core.instructions[2].operations, 64U);
  ASSERT_EQ(core.OperandsOf(2).size(), 3U);
  EXPECT_EQ(core.OperandsOf(2)[2].address, 256U);
  EXPECT_EQ(log->StackOf(core.instructions[2].site), "kernel.cpp:12\nkernel.cpp:30");
  EXPECT_EQ(log->strings[log->sites[core.instructions[2].site].function], "step");
}

TEST_F(LogTest, AStoppedProcessLeavesAnIncompleteLog) {
  WriteSmall(false);
  const auto log = ReadInstructionLog(folder_ + "/killed");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_FALSE(log->complete);
  EXPECT_EQ(log->InstructionCount(), 3U);
}

TEST_F(LogTest, ATornChunkIsLeftOut) {
  WriteSmall(false);
  const std::string bytes = Bytes(folder_ + "/killed");
  const auto log = ParseInstructionLog(std::string_view(bytes).substr(0, bytes.size() - 40));
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_FALSE(log->complete);
  EXPECT_EQ(log->InstructionCount(), 0U);
}

TEST_F(LogTest, BeyondTheLimitInstructionsAreCounted) {
  kerf_log::LogFile file;
  ASSERT_TRUE(file.Open(path_.c_str()));
  file.set_limit(5000);
  {
    kerf_log::CoreLog core(file, CoreKind::kAic, 0);
    for (int i = 0; i < 20000; ++i) core.AddSync(Op::DSB, Pipe::kScalar, 0, {});
  }
  file.Close();
  const auto log = ReadInstructionLog(path_);
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_FALSE(log->Whole());
  EXPECT_LE(log->InstructionCount(), 5000U);
  EXPECT_EQ(log->InstructionCount() + log->dropped, 20000U);
}

TEST_F(LogTest, CoresWriteFromTheirOwnThreads) {
  kerf_log::LogFile file;
  ASSERT_TRUE(file.Open(path_.c_str()));
  std::vector<std::unique_ptr<kerf_log::CoreLog>> cores;
  for (uint8_t lane = 0; lane < 2; ++lane)
    cores.push_back(std::make_unique<kerf_log::CoreLog>(file, CoreKind::kAiv, 0, lane));
  std::vector<std::thread> threads;
  for (auto& core : cores) {
    threads.emplace_back([&core] {
      for (uint32_t i = 0; i < 10000; ++i) {
        const uint32_t site = core->SiteOf("a.cpp", i % 100 + 1);
        core->Begin(Op::SCALAR, Pipe::kScalar, site).bytes = i;
        core->End();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  cores.clear();
  file.Close();
  const auto log = ReadInstructionLog(path_);
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->sites.size(), 101U);
  for (const CoreLog& core : log->cores) {
    ASSERT_EQ(core.instructions.size(), 10000U);
    for (uint32_t i = 0; i < 10000; ++i) {
      ASSERT_EQ(core.instructions[i].bytes, i);
      ASSERT_EQ(log->sites[core.instructions[i].site].line, i % 100 + 1);
    }
  }
}

TEST_F(LogTest, DamageIsRefused) {
  WriteSmall(true);
  const std::string bytes = Bytes(path_);
  // Header 32, core 32, strings 32 + 64, sites 32 + 64, records 32 + 6 · 32, end 32.
  const size_t first = 32 + 32 + 96 + 96 + 32;
  const auto with = [&](size_t at, char value) {
    std::string copy = bytes;
    copy[at] = value;
    return copy;
  };
  EXPECT_TRUE(ParseInstructionLog(bytes).ok());
  EXPECT_FALSE(ParseInstructionLog(with(0, 'X')).ok());         // magic
  EXPECT_FALSE(ParseInstructionLog(with(8, 9)).ok());           // version
  EXPECT_FALSE(ParseInstructionLog(with(first + 1, 9)).ok());   // op
  EXPECT_FALSE(ParseInstructionLog(with(first + 2, 9)).ok());   // pipe
  EXPECT_FALSE(ParseInstructionLog(with(first + 3, 40)).ok());  // operands
  EXPECT_FALSE(ParseInstructionLog(with(first + 4, 99)).ok());  // site
  EXPECT_FALSE(ParseInstructionLog(with(first + 24, 9)).ok());  // the flag's pipe
  EXPECT_FALSE(ParseInstructionLog(bytes + bytes).ok());
  EXPECT_FALSE(ParseInstructionLog("").ok());
}

TEST(OpTable, NamesAreThereAndNumbersBelowTheEnd) {
#define KERF_LOG_OP(number, name)                                 \
  EXPECT_STREQ(kerf_log::OpName(static_cast<Op>(number)), #name); \
  EXPECT_LT(number, kerf_log::kOpEnd);
  KERF_LOG_OPS(KERF_LOG_OP)
#undef KERF_LOG_OP
  EXPECT_EQ(kerf_log::OpName(static_cast<Op>(0)), nullptr);
}

}  // namespace
}  // namespace kerf::sim
