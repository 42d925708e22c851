#include "sim/exec/call_stacks.h"

#include <gtest/gtest.h>

namespace kerf::sim {
namespace {

TEST(CallStacks, ReadsWhatAddr2LineSays) {
  const CodeFrames frames = ParseFrames(
      "0x0000000000001139\n"
      "pto::TADD(int)\n"
      "/kerf/pto/kerf_pto/vector.h:80\n"
      "Inner(int)\n"
      "/k/add.cpp:12 (discriminator 2)\n"
      "kernel_entry\n"
      "/k/add.cpp:20\n"
      "0x0000000000002000\n"
      "??\n"
      "??:0\n");
  ASSERT_EQ(frames.size(), 2U);
  const auto& first = frames.at(0x1139);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[1].function, "Inner(int)");
  EXPECT_EQ(first[1].file, "/k/add.cpp");
  EXPECT_EQ(first[1].line, 12U);
  EXPECT_TRUE(frames.at(0x2000).empty());
}

TEST(CallStacks, TakesAnythingForAnAnswer) {
  EXPECT_TRUE(ParseFrames("").empty());
  EXPECT_TRUE(ParseFrames("x\n/k/add.cpp:12\n").empty());
  EXPECT_TRUE(ParseFrames("0x12\nf\n/k/add.cpp:99999999999999\n").at(0x12).empty());
  EXPECT_TRUE(ParseFrames("0x12\nf").at(0x12).empty());
}

// Two calls of one helper: its line is one line with two stacks.
TEST(CallStacks, PutsCallersAboveALine) {
  InstructionLog log;
  log.strings = {"", "/k/add.cpp", "Helper"};
  log.sites.resize(1);
  const auto pc = [&](uint64_t address, uint32_t caller) {
    Site site;
    site.pc = address;
    site.caller = caller;
    log.sites.push_back(site);
    return static_cast<uint32_t>(log.sites.size() - 1);
  };
  const auto line = [&](uint32_t caller) {
    Site site;
    site.file = 1;
    site.function = 2;
    site.line = 12;
    site.caller = caller;
    log.sites.push_back(site);
    return static_cast<uint32_t>(log.sites.size() - 1);
  };
  const uint32_t one = line(pc(0x10, pc(0x20, 0)));
  const uint32_t two = line(pc(0x10, pc(0x30, 0)));
  log.cores.resize(1);
  log.cores[0].instructions.resize(3);
  log.cores[0].instructions[0].site = one;
  log.cores[0].instructions[1].site = two;
  const CodeFrames frames = {
      {0x10, {{"TADD", "/kerf/pto/kerf_pto/vector.h", 80}, {"Helper", "/k/add.cpp", 12}}},
      {0x20, {{"kernel_entry", "/k/add.cpp", 20}}},
      {0x30, {{"Middle", "/k/add.cpp", 30}, {"kernel_entry", "/k/add.cpp", 21}}}};
  NameCallers(log, frames);
  const auto& records = log.cores[0].instructions;
  EXPECT_EQ(log.StackOf(records[0].site), "/k/add.cpp:12\n/k/add.cpp:20");
  EXPECT_EQ(log.StackOf(records[1].site), "/k/add.cpp:12\n/k/add.cpp:30\n/k/add.cpp:21");
  EXPECT_EQ(log.LineId(records[0].site), log.LineId(records[1].site));
  EXPECT_EQ(records[2].site, 0U);
  for (uint32_t id = 1; id < log.sites.size(); ++id) EXPECT_LT(log.sites[id].caller, id);
}

TEST(CallStacks, LeavesALineAloneWhenNothingIsKnown) {
  InstructionLog log;
  log.strings = {"", "/k/add.cpp"};
  log.sites.resize(3);
  log.sites[1].pc = 0x10;
  log.sites[2] = {.file = 1, .line = 12, .caller = 1};
  log.cores.resize(1);
  log.cores[0].instructions.resize(1);
  log.cores[0].instructions[0].site = 2;
  NameCallers(log, {});
  EXPECT_EQ(log.StackOf(log.cores[0].instructions[0].site), "/k/add.cpp:12");
}

}  // namespace
}  // namespace kerf::sim
