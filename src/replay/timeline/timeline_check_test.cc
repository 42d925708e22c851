// Each rule: a sound directory spoiled in one place, and the finding that names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"
#include "replay/timeline/simulator_dir.h"
#include "replay/timeline/timeline_testing.h"

namespace kerf::timeline {
namespace {

using ::testing::HasSubstr;

std::string Findings(const std::map<std::string, std::string>& files, bool damage_only = true) {
  FakeFileSystem fs;
  EXPECT_TRUE(fs.CreateDirs("sim").ok());
  for (const auto& [name, text] : files) {
    EXPECT_TRUE(fs.CreateDirs(ParentPath("sim/" + name)).ok());
    EXPECT_TRUE(WriteFileAtomic(fs, "sim/" + name, text).ok());
  }
  std::vector<Finding> findings;
  const auto dir = ReadSimulatorDir(fs, "sim", findings);
  if (!dir.ok()) return dir.error().message;
  CheckSimulatorDir(*dir, findings);
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.damage || !damage_only) text += finding.where + ": " + finding.what + "\n";
  }
  return text;
}

// The trace, in both places.
std::map<std::string, std::string> WithTrace(const std::string& what, const std::string& with) {
  auto files = SoundDir();
  const std::string trace = Replaced(kTraceText, what, with);
  files["trace.json"] = trace;
  files["visualize_data.bin"] = Block(2, trace) + Block(1, "int x;", 0x5A, "/k/add.cpp") +
                                Block(3, kFileApi) + Block(4, kInstrApi, 0);
  return files;
}

std::map<std::string, std::string> WithBin(const std::string& bin) {
  auto files = SoundDir();
  files["visualize_data.bin"] = bin;
  return files;
}

TEST(TimelineCheck, ASoundDirectoryIsSound) { EXPECT_EQ(Findings(SoundDir(), false), ""); }

TEST(TimelineCheck, TheTrace) {
  EXPECT_THAT(Findings(WithTrace("\"profilingType\":\"op\",", "")),
              HasSubstr("takes it for a system trace"));
  EXPECT_THAT(Findings(WithTrace("{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",",
                                 "{\"x\":[],\"profilingType\":\"op\",")),
              HasSubstr("must stand before the first '['"));
  EXPECT_THAT(Findings(WithTrace(
                  "\"args\":{},\"cname\":\"black\",\"id\":\"core0.veccore0_0\",\"name\":\"SET_"
                  "FLAG\",\"ph\":\"E\"",
                  "\"args\":{},\"name\":\"SET_FLAG\",\"id\":\"core0.veccore0_0\",\"ph\":\"i\"")),
              HasSubstr("SET_FLAG id core0.veccore0_0 never ends"));
  EXPECT_THAT(Findings(WithTrace("\"name\":\"SET_FLAG\",\"ph\":\"B\"",
                                 "\"name\":\"SET_FLAG\",\"ph\":\"i\"")),
              HasSubstr("ends without a beginning"));
  EXPECT_THAT(
      Findings(WithTrace("\"ph\":\"s\",\"pid\":\"core0.veccore0\",\"tid\":\"MTE2\",\"ts\":4.6",
                         "\"ph\":\"s\",\"pid\":\"core0.veccore0\",\"tid\":\"MTE2\",\"ts\":5.6")),
      HasSubstr("ends before it starts"));
  EXPECT_THAT(Findings(WithTrace("\"ph\":\"s\"", "\"ph\":\"f\"")),
              HasSubstr("ends without a start"));
  EXPECT_THAT(Findings(WithTrace("\"tid\":\"SCALAR\",", "")), HasSubstr("no pid or no tid"));
  EXPECT_THAT(Findings(WithTrace("\"detail\":\"XD:X1,\"", "\"ph\":\"x\"")),
              HasSubstr("breaks Insight's splitter"));
  EXPECT_THAT(Findings(WithTrace("{\"args\":{\"code\":\"/k/"
                                 "add.cpp:3\",\"detail\":\"XD:X1,\",\"pc_addr\":\"0x10\"},"
                                 "\"cname\":\"startup\",\"dur\":1.0,\"name\":\"MOV\",\"ph\":\"X\"",
                                 "{\"ph\":\"X\",\"args\":{\"code\":\"/k/"
                                 "add.cpp:3\",\"detail\":\"{\"},\"dur\":1.0,\"name\":\"MOV\"")),
              HasSubstr("must stand before \"ph\""));
  auto empty = SoundDir();
  empty["trace.json"] = "{\"profilingType\":\"op\",\"traceEvents\":[]}";
  EXPECT_THAT(Findings(empty), HasSubstr("traceEvents is empty"));
}

TEST(TimelineCheck, TheContainer) {
  const std::string trace = Block(2, kTraceText);
  const std::string code = Block(1, "int x;", 0x5A, "/k/add.cpp");
  EXPECT_THAT(Findings(WithBin("")), HasSubstr("visualize_data.bin: is not there"));
  EXPECT_THAT(Findings(WithBin(Block(4, kInstrApi, 0))), HasSubstr("must not come first"));
  EXPECT_THAT(Findings(WithBin(code + Block(4, kInstrApi, 0))), HasSubstr("has no TRACE block"));
  EXPECT_THAT(Findings(WithBin(trace)), HasSubstr("has no INSTR_API block"));
  EXPECT_THAT(Findings(WithBin(trace + Block(3, kFileApi) + Block(4, kInstrApi, 0))),
              HasSubstr("FILE_API names /k/add.cpp, and no CODE block holds it"));
  EXPECT_THAT(Findings(WithBin(Block(2, Replaced(kTraceText, "\"ts\":2.0", "\"ts\":3.0")) + code +
                               Block(3, kFileApi) + Block(4, kInstrApi, 0))),
              HasSubstr("have different events"));
  EXPECT_THAT(
      Findings(WithBin(Block(2, kCoreTrace) + code + Block(3, kFileApi) + Block(4, kInstrApi, 0))),
      HasSubstr("its TRACE block has 2 events, trace.json has 10"));
  EXPECT_THAT(
      Findings(WithBin(trace + code + Block(3, kFileApi) +
                       Block(4, Replaced(kInstrApi, "\"Cycles\":[12]", "\"Cycles\":[12,13]"), 0))),
      HasSubstr("Instructions[0].Cycles: has 2 entries for 1 cores"));
  EXPECT_THAT(Findings(WithBin(trace + code +
                               Block(3, Replaced(kFileApi, "\"Cycles\":[12]", "\"Cycles\":[]")) +
                               Block(4, kInstrApi, 0))),
              HasSubstr("Lines[0].Cycles: has 0 entries for 1 cores"));
  EXPECT_THAT(
      Findings(WithBin(
          trace + code + Block(3, kFileApi) +
          Block(4, Replaced(kInstrApi, "\"Cycles\":[12]", "\"Cycles\":[12],\"Queue Wait\":[1,2]"),
                0))),
      HasSubstr("Instructions[0].Queue Wait: has 2 entries for 1 cores"));
  EXPECT_THAT(Findings(WithBin(trace + code + Block(3, kFileApi) +
                               Block(4, Replaced(kInstrApi, "0x10", "main"), 0))),
              HasSubstr("Address must be hex"));
  EXPECT_THAT(Findings(WithBin(trace + code + Block(3, "{") + Block(4, kInstrApi, 0))),
              HasSubstr("FILE_API: not valid JSON"));
  EXPECT_THAT(Findings(WithBin(trace + code + Block(3, kFileApi) + Block(4, "{}  ", 0))),
              HasSubstr("has no Cores"));
}

TEST(TimelineCheck, TheCores) {
  auto files = SoundDir();
  files.erase("core0.veccore0/core0.veccore0_instr_exe_20260101000000000.csv");
  EXPECT_THAT(Findings(files), HasSubstr("core0.veccore0: has no instr_exe CSV"));
  files = SoundDir();
  files.erase("core0.veccore0/trace.json");
  EXPECT_THAT(Findings(files), HasSubstr("core0.veccore0: has no trace.json"));
  files = SoundDir();
  files["core1.veccore0/trace.json"] = kCoreTrace;
  EXPECT_THAT(Findings(files), HasSubstr("core1.veccore0: has a folder and is not listed"));
  files =
      WithBin(Block(2, kTraceText) + Block(1, "int x;", 0x5A, "/k/add.cpp") + Block(3, kFileApi) +
              Block(4, Replaced(kInstrApi, "[\"core0.veccore0\"]", "[\"core9\"]"), 0));
  EXPECT_THAT(Findings(files),
              HasSubstr("core9: is listed in visualize_data.bin and has no folder"));
  files = SoundDir();
  files["core0.veccore0/core0.veccore0_instr_exe_20260101000000000.csv"] = "wrong\n";
  EXPECT_THAT(Findings(files), HasSubstr("the header must be"));
}

TEST(TimelineCheck, WhatIsOnlyWorthKnowing) {
  auto files = WithBin(Block(2, kTraceText) + Block(4, kInstrApi, 0) + Block(0x20, "mine"));
  const std::string notes = Findings(files, false);
  EXPECT_THAT(notes, HasSubstr("no FILE_API block: no source lines (build with -g)"));
  EXPECT_THAT(notes, HasSubstr("block type 32 is nobody's"));
  EXPECT_EQ(Findings(files), "");
  const std::string percent =
      Replaced(kInstrApi, "\"Instructions\":[{",
               "\"Instructions Dtype\":{\"Instructions\":{\"Vector Utilization Percentage\":4}},"
               "\"Instructions\":[{\"Vector Utilization Percentage\":[-1],");
  const auto with_percent = [&](const std::string& table) {
    return Findings(WithBin(Block(2, kTraceText) + Block(1, "int x;", 0x5A, "/k/add.cpp") +
                            Block(3, kFileApi) + Block(4, table, 0)),
                    false);
  };
  EXPECT_THAT(with_percent(percent), HasSubstr("holds whole numbers; Insight reads them as 0"));
  EXPECT_EQ(with_percent(Replaced(percent, "[-1],", "[-1.0],")), "");
  EXPECT_THAT(Findings(WithTrace("\"schemaVersion\":2", "\"schemaVersion\":1"), false),
              HasSubstr("schemaVersion is 1"));
}

TEST(TimelineCheck, AFolderWithoutATraceIsNamed) {
  EXPECT_THAT(Findings({{"x", "y"}}),
              HasSubstr("sim: has no trace.json; name the simulator folder"));
}

}  // namespace
}  // namespace kerf::timeline
