// Each wrong kernel of defects.cu is reported, with the thread that did it and the line where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "simt/candidate_run.h"

namespace kerf {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr int kFault = 87;

// The line of defects.cu that carries the mark.
int Line(const std::string& mark) {
  std::ifstream in(KERF_SIMT_SOURCES "/defects.cu");
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find("// line: " + mark) != std::string::npos) return number;
  }
  ADD_FAILURE() << "no line is marked " << mark;
  return -1;
}

CandidateRun RunKernel(int which, const RunSetup& setup = {}) {
  return RunCandidate(std::string(KERF_SIMT_KERNELS) + "/defects.so", {Ints("which", {which})},
                      Output("out", Element::kFloat, {100}), setup);
}

// The only finding.
Json Finding(const CandidateRun& run) {
  EXPECT_EQ(run.findings.size(), 1u);
  if (run.findings.empty()) return Json::object({{"kind", "none"}, {"detail", ""}, {"line", 0}});
  return Json::parse(run.findings[0]);
}

TEST(SimtDefect, WriteBehindATensorNamesThreadAndTensor) {
  const CandidateRun run = RunKernel(0);
  EXPECT_EQ(run.exit_code, kFault);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "out_of_bounds");
  EXPECT_EQ(f["fatal"], true);
  EXPECT_EQ(f["kernel"], "past_the_end");
  EXPECT_EQ(f["block"], Json({3, 0, 0}));
  EXPECT_EQ(f["thread"], Json({4, 0, 0}));
  EXPECT_THAT(f["detail"], HasSubstr("write to"));
  EXPECT_THAT(f["detail"], HasSubstr("0 bytes past the end of \"out\" (400 bytes)"));
}

TEST(SimtDefect, DivergentBarrierNamesBothLines) {
  const CandidateRun run = RunKernel(1);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.returned, 719);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "divergent_barrier");
  EXPECT_EQ(f["thread"], Json({16, 0, 0}));
  EXPECT_EQ(f["line"], Line("other"));
  EXPECT_THAT(f["detail"], HasSubstr("thread (0,0,0) waits at the one in line " +
                                     std::to_string(Line("branch"))));
}

TEST(SimtDefect, BarrierAfterExitIsAWarningUnlessStrict) {
  const CandidateRun run = RunKernel(2);
  EXPECT_EQ(run.returned, 0);
  EXPECT_EQ(run.output.as<float>()[39], 40.f);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "barrier_after_exit");
  EXPECT_EQ(f["severity"], "warning");
  EXPECT_EQ(f["thread"], Json({40, 0, 0}));
  EXPECT_EQ(f["line"], Line("exit"));
  const CandidateRun strict = RunKernel(2, {.strict = true});
  EXPECT_EQ(strict.returned, 719);
  EXPECT_EQ(Finding(strict)["fatal"], true);
}

TEST(SimtDefect, MissingBarrierInAReductionIsARace) {
  const Json f = Finding(RunKernel(3));
  EXPECT_EQ(f["kind"], "race");
  EXPECT_EQ(f["severity"], "error");
  EXPECT_EQ(f["line"], Line("race"));
  EXPECT_THAT(f["detail"], HasSubstr("an element of \"s\""));
}

TEST(SimtDefect, WritersWithDifferentValuesAreARace) {
  const Json f = Finding(RunKernel(4));
  EXPECT_EQ(f["kind"], "race");
  EXPECT_EQ(f["line"], Line("writers"));
}

TEST(SimtDefect, RaceThroughAPointerIntoDynamicSharedMemory) {
  // Seen from both sides: a thread that writes what another read, and one that reads what another
  // wrote.
  const CandidateRun run = RunKernel(5);
  ASSERT_EQ(run.findings.size(), 2u);
  const Json f = Json::parse(run.findings[1]);
  EXPECT_EQ(f["kind"], "race");
  EXPECT_EQ(f["line"], Line("pointer"));
}

TEST(SimtDefect, OrderedAccessesAreNoRace) {
  const CandidateRun run = RunKernel(6);
  EXPECT_EQ(run.returned, 0);
  EXPECT_TRUE(run.findings.empty()) << run.findings[0];
  EXPECT_EQ(run.output.as<float>()[5], 5.f);
}

TEST(SimtDefect, IndexOutsideOfSharedArray) {
  const CandidateRun run = RunKernel(7);
  EXPECT_EQ(run.returned, 700);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "shared_out_of_bounds");
  EXPECT_EQ(f["line"], Line("index"));
  EXPECT_THAT(f["detail"], HasSubstr("index 72 of \"tile\""));
}

TEST(SimtDefect, RowOverflowInsideTheArrayIsAWarning) {
  const CandidateRun run = RunKernel(8);
  EXPECT_EQ(run.returned, 0);
  EXPECT_EQ(Finding(run)["kind"], "shared_row_overflow");
}

TEST(SimtDefect, IndexOutsideOfDynamicSharedMemory) {
  const Json f = Finding(RunKernel(9));
  EXPECT_EQ(f["kind"], "shared_out_of_bounds");
  EXPECT_THAT(f["detail"], HasSubstr("index 16 of \"dyn\", which has 16 elements"));
}

TEST(SimtDefect, PointerBehindDynamicSharedMemoryFaults) {
  const CandidateRun run = RunKernel(10);
  EXPECT_EQ(run.exit_code, kFault);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "shared_out_of_bounds");
  EXPECT_THAT(f["detail"], HasSubstr("0 bytes past the end of the 64 bytes"));
}

TEST(SimtDefect, ShuffleFromALaneThatDoesNotExist) {
  const CandidateRun run = RunKernel(11);
  EXPECT_EQ(run.returned, 0);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "inactive_lane");
  EXPECT_EQ(f["severity"], "warning");
  EXPECT_EQ(f["thread"], Json({8, 0, 0}));
  EXPECT_EQ(f["line"], Line("lane"));
}

TEST(SimtDefect, WarpWaitsForALaneAtABarrier) {
  const CandidateRun run = RunKernel(12);
  EXPECT_EQ(run.returned, 719);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "deadlock");
  EXPECT_EQ(f["line"], Line("warp"));
  EXPECT_THAT(f["detail"], HasSubstr("waits for lane 31"));
}

TEST(SimtDefect, TooMuchStaticSharedMemory) {
  const CandidateRun run = RunKernel(13);
  EXPECT_EQ(run.returned, 701);
  EXPECT_EQ(Finding(run)["kind"], "shared_memory_limit");
}

TEST(SimtDefect, AssertionInAKernel) {
  const CandidateRun run = RunKernel(14);
  EXPECT_EQ(run.returned, 710);
  EXPECT_THAT(Finding(run)["detail"], HasSubstr("n > 100"));
}

TEST(SimtDefect, IntegerDivisionByZero) {
  const CandidateRun run = RunKernel(15);
  EXPECT_EQ(run.exit_code, kFault);
  EXPECT_EQ(Finding(run)["kind"], "divide_by_zero");
}

TEST(SimtDefect, EndlessRecursion) {
  const CandidateRun run = RunKernel(16);
  EXPECT_EQ(run.exit_code, kFault);
  EXPECT_EQ(Finding(run)["kind"], "stack_overflow");
}

TEST(SimtDefect, EndlessLoopHitsTheTimeLimit) {
  const CandidateRun run = RunKernel(17, {.time_limit_ms = 200});
  EXPECT_EQ(run.exit_code, kFault);
  const Json f = Finding(run);
  EXPECT_EQ(f["kind"], "time_limit");
  EXPECT_EQ(f["kernel"], "spins");
}

TEST(SimtDefect, LaunchesNoDeviceWouldStart) {
  for (int which : {18, 19, 20, 21}) {
    const CandidateRun run = RunKernel(which);
    EXPECT_EQ(run.returned, which == 21 ? 1 : 9) << which;
    EXPECT_EQ(Finding(run)["kind"], "launch_refused") << which;
    EXPECT_EQ(run.output.as<float>()[0], 0.f) << which;
  }
}

TEST(SimtDefect, NullPointer) {
  const CandidateRun run = RunKernel(22);
  EXPECT_EQ(run.exit_code, kFault);
  EXPECT_THAT(Finding(run)["detail"], HasSubstr("a null pointer"));
}

TEST(SimtDefect, ErrorsClearButFaultsStay) { EXPECT_EQ(RunKernel(23).returned, 0); }

}  // namespace
}  // namespace kerf
