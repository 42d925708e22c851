#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"
#include "replay/timeline/bin_reader.h"
#include "replay/timeline/ca_dump_reader.h"
#include "replay/timeline/csv_reader.h"
#include "replay/timeline/timeline_testing.h"
#include "replay/timeline/trace_reader.h"

namespace kerf::timeline {
namespace {

using ::testing::HasSubstr;

std::string BinError(const std::string& bytes) {
  const auto blocks = ReadBin(bytes);
  return blocks.ok() ? "accepted" : blocks.error().message;
}

TEST(BinReader, WalksTheBlocks) {
  const auto bin = SoundDir()["visualize_data.bin"];
  const auto blocks = ReadBin(bin);
  ASSERT_TRUE(blocks.ok()) << blocks.error().message;
  ASSERT_EQ(blocks->size(), 4U);
  EXPECT_EQ((*blocks)[1].path, "/k/add.cpp");
  EXPECT_EQ((*blocks)[1].payload, "int x;");
  EXPECT_TRUE((*blocks)[3].is(BlockType::kInstrApi));
  EXPECT_EQ((*blocks)[3].version, 0);
}

TEST(BinReader, RefusesWhatInsightRefuses) {
  EXPECT_THAT(BinError(""), HasSubstr("holds no block"));
  EXPECT_THAT(BinError(Block(4, "{}  ", 0)), HasSubstr("INSTR_API must not come first"));
  EXPECT_THAT(BinError(std::string(8, '\0') + "\x02\0\x5A\x5A"), HasSubstr("holds no block"))
      << "11 bytes";
  EXPECT_THAT(BinError(std::string(8, '\0') + std::string("\x02\0\x5A\x5A", 4)),
              HasSubstr("the first block is empty"));
  std::string cut = Block(2, kTraceText);
  cut.resize(cut.size() - 8);
  EXPECT_THAT(BinError(cut), HasSubstr("greater than bin file size"));
  EXPECT_THAT(BinError(Block(2, "{}  ") + std::string(8, '\1') + std::string("\x01\0\x5A\x5A", 4)),
              HasSubstr("path of a CODE block is cut off"));
  std::string padded = Block(2, "abcd");
  padded[9] = 4;
  EXPECT_THAT(BinError(padded), HasSubstr("holds no payload after 4 bytes of padding"));
  EXPECT_EQ(BinError(Block(2, "{}  ") + "short tail"), "accepted")
      << "fewer than 12 bytes are tolerated";
  EXPECT_THAT(BinError(std::string(8, '\xff') + std::string("\x02\0\x5A\x5A", 4)),
              HasSubstr("claims 18446744073709551615 bytes"));
}

TEST(TraceReader, ReadsBothKinds) {
  const auto summary = ParseTrace("t", kTraceText);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->schema_version, 2);
  EXPECT_TRUE(summary->op_before_events);
  const Timeline timeline = TimelineOf(*summary);
  ASSERT_EQ(timeline.cores.size(), 1U);
  EXPECT_EQ(timeline.cores[0].slices.size(), 5U) << "three X, two pairs";
  EXPECT_EQ(timeline.cores[0].slices[1].pc, 0x14U);
  ASSERT_EQ(timeline.flows.size(), 1U);
  EXPECT_EQ(timeline.flows[0].to_pipe, "VECTOR");
  const auto core = ParseTrace("c", kCoreTrace);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(TimelineOf(*core, "core0.veccore0").cores[0].slices[0].pipe, "MTE2");
}

TEST(TraceReader, RefusesWhatIsNoTrace) {
  for (const char* text :
       {"", "[]", "{}", "{\"traceEvents\":3}", "{\"traceEvents\":[{]}", "{\"traceEvents\":[]} x"}) {
    EXPECT_FALSE(ParseTrace("t", text).ok()) << text;
  }
}

TEST(CsvReader, ReadsTheToolsQuoting) {
  const auto rows = ParseInstrCsv("f", kInstrCsv);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].detail, "a, \"b\"");
  EXPECT_EQ((*rows)[0].cycles, 400U);
  EXPECT_EQ((*rows)[1].addr, 16U);
  const auto lines = ParseCodeCsv("f", kCodeCsv);
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ((*lines)[0].code, "/k/a,dd.cpp:3");
}

TEST(CsvReader, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(ParseInstrCsv("f", "a,b\n").error().message, HasSubstr("f:1: the header must be"));
  EXPECT_THAT(ParseInstrCsv("f", Replaced(kInstrCsv, "LOAD,20", "LOAD,0x14")).error().message,
              HasSubstr("f:2: addr must be a decimal number"));
  EXPECT_THAT(ParseInstrCsv("f", kInstrCsv + "MOV,1\n").error().message,
              HasSubstr("f:4: has 2 fields"));
  EXPECT_THAT(ParseInstrCsv("f", kInstrCsv + "MOV,1,S,x,2,3,\n").error().message,
              HasSubstr("must be numbers"));
  EXPECT_THAT(ParseCodeCsv("f", kCodeCsv + "x,1\n").error().message,
              HasSubstr("f:3: has fewer than 4 fields"));
  EXPECT_THAT(ParseCodeCsv("f", "").error().message, HasSubstr("the header"));
}

TEST(CsvReader, KnowsTheNames) {
  EXPECT_TRUE(IsInstrCsv("core0.veccore1_instr_exe_20260101000000000.csv"));
  EXPECT_TRUE(IsInstrCsv("core12_instr_exe.csv"));
  EXPECT_TRUE(IsCodeCsv("core0.cubecore0_code_exe_1.csv"));
  EXPECT_FALSE(IsInstrCsv("core0.veccore1_instr_exe_.csv"));
  EXPECT_FALSE(IsInstrCsv("core0.veccore_instr_exe.csv"));
  EXPECT_FALSE(IsInstrCsv("xcore0_instr_exe.csv"));
  EXPECT_TRUE(IsCoreName("core3.mixcore0"));
  EXPECT_FALSE(IsCoreName("core"));
  EXPECT_FALSE(IsCoreName("core0.veccore0x"));
}

const char* const kPopped =
    "[info] [00001200] (PC: 0x10000040) SCALAR   : (Binary: 0x00c0ffee) WAIT_FLAG  PIPE:MTE2, "
    "TRIGGER PIPE:SCALAR, FLAG ID:0,\n"
    "[info] [00001300] (PC: 0x10000044) VEC : (Binary: 0x00c0ffee) VADD  XD:X1\n"
    "noise\n"
    "[info] [00001400] (PC: 0x10000044) VEC : (Binary: 0x00c0ffee) VADD  XD:X1\n"
    "[info] [1500] (PC: 0x10000044) VEC : (Binary: 0x00c0ffee) poped from IQ\n";
const char* const kRetired =
    "[info] [00001250] (PC: 0x10000040) SCALAR   : (Binary: 0x00c0ffee) WAIT_FLAG  PIPE:MTE2,\n"
    "[1350](PC: 0x10000044)@CORE0 VEC IB ISSUE : (Binary: 0x00c0ffee) (ID: 000123) VADD  XD:X1\n"
    "[info] [00001390] (PC: 0x10000044) VEC : (Binary: 0x00c0ffee) VADD  XD:X1\n"
    "[info] [00001490] (PC: 0x10000044) VEC : (Binary: 0x00c0ffee) VADD  XD:X1\n";

TEST(CaDumps, JoinIssueAndRetire) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("dump").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "dump/core0.veccore0.instr_popped_log.dump", kPopped).ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "dump/core0.veccore0.instr_log.dump", kRetired).ok());
  CaLosses losses;
  const auto timeline = ReadCaDumps(fs, "dump", 1000.0, losses);
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  EXPECT_EQ(losses.lines, 2U);
  EXPECT_EQ(losses.unjoined, 0U);
  const auto& slices = timeline->cores.at(0).slices;
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0].name, "WAIT_FLAG");
  EXPECT_EQ(slices[0].detail, "PIPE:MTE2,TRIGGERPIPE:SCALAR,FLAGID:0,");
  EXPECT_DOUBLE_EQ(slices[0].start_us, 1.2);
  EXPECT_DOUBLE_EQ(slices[0].duration_us, 0.05);
  EXPECT_EQ(slices[1].pipe, "VECTOR");
  EXPECT_NEAR(slices[1].duration_us, 0.09, 1e-9) << "the record with an id is another instruction";
  EXPECT_NEAR(slices[2].duration_us, 0.09, 1e-9);
  EXPECT_THAT(ReadCaDumps(fs, ".", 1000.0, losses).error().message,
              HasSubstr("holds no core*.instr_popped_log.dump"));
}

std::string CaLine(int tick, const std::string& pipe = "MTE2") {
  return "[info] [" + std::to_string(tick) + "] (PC: 0x10) " + pipe +
         " : (Binary: 0x00c0ffee) LOAD  X\n";
}

// Eleven parts: in the order of their names 10 would come before 2, and the first one last.
TEST(CaDumps, ContinuedLogsAreReadInTheirOrder) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("dump").ok());
  for (int part = 0; part < 11; ++part) {
    const std::string number = part == 0 ? "" : "." + std::to_string(part);
    ASSERT_TRUE(WriteFileAtomic(fs, "dump/core0.veccore0.instr_popped_log" + number + ".dump",
                                CaLine(100 * part))
                    .ok());
    // The ends are cut otherwise, and numbered behind: one file holds what two hold there.
    if (part % 2 != 0) continue;
    ASSERT_TRUE(
        WriteFileAtomic(fs, "dump/core0.veccore0.instr_log.dump" + number,
                        CaLine(100 * part + 7) + (part < 10 ? CaLine(100 * part + 107) : ""))
            .ok());
  }
  CaLosses losses;
  const auto timeline = ReadCaDumps(fs, "dump", 1000.0, losses);
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  EXPECT_EQ(losses.unjoined, 0U);
  ASSERT_EQ(timeline->cores.at(0).slices.size(), 11U);
  for (const TimelineSlice& slice : timeline->cores[0].slices)
    EXPECT_NEAR(slice.duration_us, 0.007, 1e-9);
}

TEST(CaDumps, OtherNamesAndPipesAreKnown) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("dump").ok());
  const std::string issued = CaLine(1, "XYZ") + CaLine(5) + CaLine(9);
  ASSERT_TRUE(WriteFileAtomic(fs, "dump/core3_instr_popped_log.dump", issued).ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "dump/core3_instr_log.dump", CaLine(2, "XYZ") + CaLine(6)).ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "dump/core3.instr_log.dump.x", "noise\n").ok());
  CaLosses losses;
  const auto timeline = ReadCaDumps(fs, "dump", 1000.0, losses);
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  ASSERT_EQ(timeline->cores.size(), 1U);
  EXPECT_EQ(timeline->cores[0].name, "core3");
  EXPECT_EQ(timeline->cores[0].slices.at(0).pipe, "ALL");
  EXPECT_EQ(losses.unjoined, 1U) << "the third load did not retire";
  EXPECT_EQ(losses.lines, 0U);
}

}  // namespace
}  // namespace kerf::timeline
