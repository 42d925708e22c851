#include "cli/render/sim_text.h"

#include <gtest/gtest.h>

#include "cli/fake_output.h"

namespace kerf::cli {
namespace {

sim::SimReport Report() {
  sim::SimReport report{
      .chip = "ascend910b1", .clock_mhz = 1850, .cycles = 12000, .instructions = 1024};
  sim::CoreReport core{
      .name = "core0.veccore0", .cycles = 12000, .instructions = 1024, .memory_share = 0.25};
  sim::PipeReport pipe{sim::Pipe::kMte2, {}};
  pipe.use.busy = 6000;
  pipe.use.instructions = 10;
  pipe.use.stalled[static_cast<size_t>(sim::StallReason::kFlag)] = 6000;
  core.pipes.push_back(pipe);
  report.cores.push_back(core);
  report.stalls.push_back({sim::StallReason::kFlag, sim::Pipe::kMte2, "WAIT_FLAG", "/k/a.cpp:3",
                           "TADD VECTOR /k/a.cpp:9", 6000, 12});
  return report;
}

TEST(SimText, SaysWhatTheRunCameTo) {
  const FakeOutput out;
  EXPECT_EQ(SimText(Report(), out),
            "ascend910b1: 12,000 cycles (6.49 us at 1850 MHz), 1,024 instructions on 1 core\n"
            "\n"
            "PIPE         BUSY                       STANDS STILL\n"
            "vector MTE2  ##########..........  50%  flag 50%\n"
            "\n"
            "Worst stalls\n"
            "CYCLES  TIMES  PIPE  REASON  AT                 WAITS FOR\n"
            " 6,000     12  MTE2  flag    WAIT_FLAG a.cpp:3  TADD VECTOR a.cpp:9\n"
            "\n"
            "No hazards.\n"
            "Best core: memory 25% of a core's rate.\n");
}

TEST(SimText, ShowsHazardsWithTheirPlaces) {
  sim::SimReport report = Report();
  report.hangs = true;
  report.hazards.push_back({sim::HazardKind::kRace,
                            false,
                            "nothing orders them",
                            {"TLOAD MTE2 a.cpp:1 (core0.veccore0)"},
                            7});
  const std::string text = SimText(report, FakeOutput());
  EXPECT_NE(text.find("The run hangs"), std::string::npos);
  EXPECT_NE(text.find("1 hazard\n  race  nothing orders them (7 times)\n      TLOAD MTE2 a.cpp:1 "
                      "(core0.veccore0)\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace kerf::cli
