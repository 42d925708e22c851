#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <random>

#include "base/fake_file_system.h"
#include "replay/timeline/bin_reader.h"
#include "replay/timeline/simulator_dir.h"
#include "replay/timeline/timeline_summary.h"
#include "sim/log/log_testing.h"
#include "sim/output/analyse.h"
#include "sim/timing/timing_testing.h"

namespace kerf::sim {
namespace {

constexpr Pipe S = Pipe::kScalar, MTE2 = Pipe::kMte2, MTE3 = Pipe::kMte3, V = Pipe::kVector;

OutputOptions Options() {
  return {.parent = "/out", .stamp = "20260102030405678", .kernel = "add"};
}

void PutSource(FileSystem& fs) {
  auto file = fs.OpenNew("/kernel.cpp");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Write("void kernel_entry();\n").ok());
}

Program Chain() {
  Program program;
  program.log.strings[1] = "/kernel.cpp";
  CoreProgram p = program.Aiv();
  p.Load(0, 24, 64).Set(MTE2, V, 0).Wait(MTE2, V, 0);
  p.Unary(Op::TADDS, 8192, 0, 24, 64).Barrier(V).Unary(Op::TLOG, 16384, 8192, 24, 64);
  p.Set(V, MTE3, 0).Wait(V, MTE3, 0).Store(16384, 24, 64).Set(MTE3, S, 7).Wait(MTE3, S, 7);
  return program;
}

// Two blocks, all cores, signals between them.
Program Mix() {
  Program program;
  for (uint32_t block = 0; block < 2; ++block) {
    CoreProgram aic = program.Aic(block);
    aic.Op1(Op::TMATMUL, Pipe::kCube,
            {CoreProgram::Tile(Memory::kL0c, 0, 64, 64, Dtype::kF32, kerf_log::kWrite),
             CoreProgram::Tile(Memory::kL0a, 0, 64, 128, Dtype::kF16, kerf_log::kRead),
             CoreProgram::Tile(Memory::kL0b, 0, 128, 64, Dtype::kF16, kerf_log::kRead)});
    aic.Set(Pipe::kCube, Pipe::kFix, 0).Wait(Pipe::kCube, Pipe::kFix, 0);
    aic.Op1(Op::TPUSH, Pipe::kFix,
            {CoreProgram::Gm(block << 16, 64, 64, kerf_log::kWrite),
             CoreProgram::Tile(Memory::kL0c, 0, 64, 64, Dtype::kF32, kerf_log::kRead)},
            16384);
    aic.CrossSet(Pipe::kFix, 0, kerf_log::kPeerAiv0 | kerf_log::kPeerAiv1);
    for (uint8_t lane = 0; lane < 2; ++lane) {
      CoreProgram aiv = program.Aiv(block, lane);
      aiv.CrossWait(S, 0, kerf_log::kPeerAic)
          .Load(0, 32, 64)
          .Set(MTE2, V, 0)
          .Wait(MTE2, V, 0)
          .Unary(Op::TEXP, 16384, 0, 32, 64);
    }
  }
  return program;
}

struct Written {
  SimReport report;
  timeline::SimulatorDir dir;
  std::vector<timeline::Finding> findings;
};

Written WriteAndRead(const Program& program, const OutputOptions& options = Options()) {
  FakeFileSystem fs;
  PutSource(fs);
  auto report = Analyse(fs, program.log, ChipModel("ascend910b1"), options);
  EXPECT_TRUE(report.ok()) << report.error().message;
  Written written{std::move(report).value(), {}, {}};
  auto dir = timeline::ReadSimulatorDir(fs, written.report.directory, written.findings);
  EXPECT_TRUE(dir.ok()) << dir.error().message;
  written.dir = std::move(dir).value();
  timeline::CheckSimulatorDir(written.dir, written.findings);
  return written;
}

void ExpectNoDamage(const Written& written) {
  for (const timeline::Finding& finding : written.findings)
    EXPECT_FALSE(finding.damage) << finding.where << ": " << finding.what;
}

TEST(SimDirectory, PassesTheCheckWithoutANote) {
  const Written written = WriteAndRead(Chain());
  for (const timeline::Finding& finding : written.findings)
    ADD_FAILURE() << finding.where << ": " << finding.what;
  EXPECT_TRUE(written.report.hazards.empty());
  EXPECT_EQ(written.report.directory, "/out/OPPROF_20260102030405678_KERF/simulator");
}

TEST(SimDirectory, TheTimelineIsTheRun) {
  const Written written = WriteAndRead(Chain());
  const Timeline timeline = timeline::TimelineOf(written.dir.trace);
  ASSERT_EQ(timeline.cores.size(), 1U);
  EXPECT_EQ(timeline.cores[0].slices.size(), 11U);  // every instruction, pairs as one
  EXPECT_EQ(timeline.flows.size(), 3U);
  double end = 0;
  for (const TimelineSlice& slice : timeline.cores[0].slices)
    end = std::max(end, slice.start_us + slice.duration_us);
  EXPECT_NEAR(end, written.report.Microseconds(), 1e-5);
  const Timeline core =
      timeline::TimelineOf(*written.dir.cores.at("core0.veccore0").trace, "core0.veccore0");
  EXPECT_EQ(core.cores[0].slices.size(), 11U);
}

TEST(SimDirectory, CycleExactModeShowsEveryCycle) {
  OutputOptions options = Options();
  options.cycle_exact = true;
  const Written written = WriteAndRead(Chain(), options);
  ExpectNoDamage(written);
  double end = 0;
  for (const timeline::TraceEvent& event : written.dir.trace.events) {
    const double cycles = event.ts * 1000;
    EXPECT_NEAR(cycles, std::round(cycles), 1e-6);
    end = std::max(end, event.ts + event.duration);
  }
  EXPECT_NEAR(end * 1000, static_cast<double>(written.report.cycles), 1e-6);
}

TEST(SimDirectory, ManyCoresWithSignalsBetweenThem) {
  const Written written = WriteAndRead(Mix());
  ExpectNoDamage(written);
  EXPECT_EQ(written.dir.cores.size(), 6U);
  const Timeline timeline = timeline::TimelineOf(written.dir.trace);
  const auto crossed =
      std::count_if(timeline.flows.begin(), timeline.flows.end(),
                    [](const TimelineFlow& flow) { return flow.from_core != flow.to_core; });
  EXPECT_EQ(crossed, 4);
}

TEST(SimDirectory, ARunThatHangsIsWrittenAsFarAsItCame) {
  Program program = Chain();
  program.Aiv().Wait(MTE2, V, 5).Store(0, 1, 64);
  const Written written = WriteAndRead(program);
  ExpectNoDamage(written);
  EXPECT_TRUE(written.report.hangs);
  ASSERT_EQ(written.report.hazards.size(), 1U);
  EXPECT_EQ(written.report.hazards[0].kind, HazardKind::kWaitWithoutSet);
  // The timeline shows where it stands.
  const Timeline timeline = timeline::TimelineOf(written.dir.trace);
  const auto& slices = timeline.cores[0].slices;
  EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), [](const TimelineSlice& slice) {
    return slice.name == "WAIT_FLAG" && slice.detail.find("HANGS") != std::string::npos;
  }));
}

TEST(SimDirectory, TheSourceViewHasTheFileAndItsLines) {
  const Written written = WriteAndRead(Chain());
  const auto blocks = timeline::ReadBin(written.dir.bin);
  ASSERT_TRUE(blocks.ok());
  std::vector<int> types;
  for (const timeline::BinBlock& block : *blocks) types.push_back(block.type);
  EXPECT_EQ(types, (std::vector<int>{2, 1, 5, 0xC, 0xF, 3, 4}));
  EXPECT_EQ((*blocks)[1].path, "/kernel.cpp");
  EXPECT_EQ((*blocks)[1].payload, "void kernel_entry();\n");
  const std::string_view instructions = blocks->back().payload;
  for (const char* column :
       {"\"Stall Cycles\":1", "\"Stall Reason\":3", "\"Hazards\":1", "\"Share of Peak\":4"})
    EXPECT_NE(instructions.find(column), std::string_view::npos) << column;
  EXPECT_NE(instructions.find("\"Source\":\"WAIT_FLAG MTE2 ID:0\""), std::string_view::npos)
      << instructions;
}

TEST(SimDirectory, WithoutSourcesThereIsNoSourceView) {
  Program program = Chain();
  program.log.strings[1] = "/gone.cpp";
  const Written written = WriteAndRead(program);
  ExpectNoDamage(written);
}

TEST(SimDirectory, PerfettoRowsDoNotOverlap) {
  FakeFileSystem fs;
  Program program;
  CoreProgram p = program.Aiv();
  for (int i = 0; i < 20; ++i)
    p.Load(static_cast<uint64_t>(i % 4) * 8192, 24, 64)
        .Set(MTE2, V, i % 4)
        .Wait(MTE2, V, i % 4)
        .Unary(Op::TEXP, 65536, 0, 8, 64);
  const auto report = Analyse(fs, program.log, ChipModel("ascend910b1"), Options());
  ASSERT_TRUE(report.ok());
  const auto text = fs.ReadFile(report->perfetto);
  ASSERT_TRUE(text.ok());
  const auto trace = timeline::ParseTrace("perfetto.json", *text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  std::map<std::pair<std::string, std::string>, double> ends;
  int slices = 0;
  for (const timeline::TraceEvent& event : trace->events) {
    if (event.phase != 'X') continue;
    double& end = ends[{event.pid, event.tid}];
    EXPECT_GE(event.ts, end - 1e-9) << event.name;
    end = event.ts + event.duration;
    ++slices;
  }
  EXPECT_GE(slices, 40);
  EXPECT_GT(ends.size(), 2U);  // loads overlap in their latency
}

TEST(SimDirectory, RandomProgramsPassTheCheck) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    Program program;
    CoreProgram p = program.Aiv(static_cast<uint32_t>(round % 3), static_cast<uint8_t>(round % 2));
    for (int i = 0; i < 60; ++i) {
      const auto from = static_cast<Pipe>(random() % kPipeCount);
      const auto to = static_cast<Pipe>(random() % kPipeCount);
      switch (random() % 5) {
        case 0:
          p.Load(random() % 4 * 64, 1 + random() % 8, 64);
          break;
        case 1:
          p.Unary(Op::TEXP, 8192, 0, 1 + random() % 8, 64);
          break;
        case 2:
          if (from != to) p.Set(from, to, 0).Wait(from, to, 0);
          break;
        case 3:
          p.Barrier(random() % 2 == 0 ? Pipe::kAll : V);
          break;
        default:
          if (from != to) p.Set(from, to, 1 + static_cast<int>(random() % 2));
      }
    }
    ExpectNoDamage(WriteAndRead(program));
  }
}

TEST(SimDirectory, AHundredRunsAreTheSameBytes) {
  const Program program = Mix();
  std::string first;
  for (int run = 0; run < 100; ++run) {
    FakeFileSystem fs;
    const auto report = Analyse(fs, program.log, ChipModel("ascend910b1"), Options());
    ASSERT_TRUE(report.ok());
    const std::string bytes = fs.ReadFile(report->directory + "/visualize_data.bin").value() +
                              fs.ReadFile(report->perfetto).value() + ReportJson(*report);
    if (run == 0) first = bytes;
    ASSERT_EQ(bytes, first) << "run " << run;
  }
}

TEST(SimDirectory, AFullDiskIsAnError) {
  FakeFileSystem fs;
  fs.FailWriteAfterBytes(3000, ENOSPC);
  const auto report = Analyse(fs, Chain().log, ChipModel("ascend910b1"), Options());
  EXPECT_FALSE(report.ok());
}

TEST(SimDirectory, ARunWithoutInstructionsIsRefused) {
  FakeFileSystem fs;
  Program program;
  program.Aiv();
  const auto report = Analyse(fs, program.log, ChipModel("ascend910b1"), Options());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidInput);
}

TEST(SimReport, TheWorstStallsNameTheirLines) {
  const Program program = Chain();
  FakeFileSystem fs;
  const auto report = Analyse(fs, program.log, ChipModel("ascend910b1"), {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->directory.empty());
  ASSERT_FALSE(report->stalls.empty());
  const StallReport& worst = report->stalls[0];
  EXPECT_EQ(worst.instruction, "WAIT_FLAG");
  EXPECT_NE(worst.pipe, Pipe::kScalar);  // which only waits for the end
  EXPECT_GT(worst.cycles, 100U);
  EXPECT_FALSE(worst.place.empty());
  EXPECT_NE(worst.waits_for.find("T"), std::string::npos);
}

TEST(SimReport, StampsAreInMilliseconds) {
  EXPECT_EQ(StampOf(1'767'323'045'678'000'000), "20260102030405678");
}

}  // namespace
}  // namespace kerf::sim
