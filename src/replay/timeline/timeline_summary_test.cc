#include "replay/timeline/timeline_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "replay/timeline/timeline_convert.h"
#include "replay/timeline/timeline_testing.h"
#include "replay/timeline/trace_reader.h"

namespace kerf::timeline {
namespace {

using ::testing::HasSubstr;

Timeline Sample(const std::string& text = kTraceText) { return TimelineOf(*ParseTrace("t", text)); }

TEST(TimelineSummary, CountsOverlapOnce) {
  const TimelineSummary summary = Summarize(Sample(), 10);
  EXPECT_NEAR(summary.span_us, 4.7, 1e-9);
  EXPECT_EQ(summary.slices, 5);
  ASSERT_EQ(summary.pipes.size(), 3U);
  EXPECT_EQ(summary.pipes[0].pipe, "MTE2");
  EXPECT_NEAR(summary.pipes[0].busy_us, 3.6, 1e-9) << "1 to 3, 2 to 4.5, then the flag";
  EXPECT_EQ(summary.pipes[2].pipe, "VECTOR");
  EXPECT_NEAR(summary.pipes[2].wait_us, 3.7, 1e-9);
  EXPECT_NEAR(summary.pipes[2].busy_us, 0, 1e-9) << "who waits is not busy";
  EXPECT_EQ(summary.instructions[0].what, "MTE2 LOAD");
  EXPECT_NEAR(summary.instructions[0].total_us, 4.5, 1e-9);
  ASSERT_GE(summary.lines.size(), 2U);
  EXPECT_EQ(summary.lines[0].what, "/k/add.cpp:4") << "the innermost frame";
}

TEST(TimelineSummary, KeepsTheTopOnly) {
  EXPECT_EQ(Summarize(Sample(), 1).instructions.size(), 1U);
}

TEST(TimelineDiff, ShowsWhatChanged) {
  const TimelineDiff same = Compare(Sample(), Sample(), 10);
  EXPECT_TRUE(same.instructions.empty());
  const TimelineDiff diff =
      Compare(Sample(), Sample(Replaced(kTraceText, "\"dur\":2.5", "\"dur\":1.0")), 10);
  ASSERT_EQ(diff.instructions.size(), 1U);
  EXPECT_EQ(diff.instructions[0].what, "MTE2 LOAD");
  EXPECT_NEAR(diff.instructions[0].after_us, 3.0, 1e-9);
}

TEST(TimelineConvert, PerfettoRowsDoNotOverlap) {
  const auto document = nlohmann::json::parse(ToPerfetto(Sample()));
  std::map<std::pair<int, int>, double> ends;
  std::map<int, std::string> names;
  int slices = 0;
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "M" && event.at("name") == "thread_name")
      names[event.at("tid")] = event.at("args").at("name");
    if (event.at("ph") != "X") continue;
    ++slices;
    double& end = ends[{event.at("pid"), event.at("tid")}];
    EXPECT_GE(event.at("ts").get<double>(), end - 1e-9);
    end = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  EXPECT_EQ(slices, 5);
  EXPECT_EQ(names[1], "MTE2") << "lanes follow the data";
  EXPECT_EQ(names[2], "MTE2 (2)");
  EXPECT_EQ(names[3], "VECTOR");
  EXPECT_EQ(names[4], "SCALAR");
}

TEST(TimelineConvert, CsvIsQuoted) {
  const std::string csv = ToCsv(Sample());
  EXPECT_THAT(csv, HasSubstr("core0.veccore0,SCALAR,MOV,0,1,0x10,/k/add.cpp:3,\"XD:X1,\"\n"));
  EXPECT_THAT(csv, HasSubstr("\"/k/add.cpp:4\n/k/x.h:1\""));
}

}  // namespace
}  // namespace kerf::timeline
