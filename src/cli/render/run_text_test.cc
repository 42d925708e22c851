#include "cli/render/run_text.h"

#include <gtest/gtest.h>

#include "cli/verb.h"

namespace kerf::cli {
namespace {

RunReport ReportOf(bool success, std::optional<Error> error) {
  RunReport report;
  report.results.emplace_back();
  report.results.back().outcome.success = success;
  report.results.back().outcome.error = std::move(error);
  return report;
}

TEST(RunExitCode, TellsWhatWentWrong) {
  EXPECT_EQ(RunExitCode(ReportOf(true, std::nullopt)), kExitDone);
  EXPECT_EQ(RunExitCode(ReportOf(false, std::nullopt)), kExitNegative);
  EXPECT_EQ(RunExitCode(ReportOf(false, InvalidInput("no such operator"))), kExitNegative);
}

// The synthesizer's kernel may have passed: the model that was wanted never answered, or something
// could not be recorded.
TEST(RunExitCode, AWrongKeyOrAFullDiskIsAFailureEvenWithAKernel) {
  EXPECT_EQ(RunExitCode(ReportOf(true, Denied("HTTP 401: wrong key"))), 3);
  EXPECT_EQ(RunExitCode(ReportOf(true, IoError("no space left"))), 3);
  EXPECT_EQ(RunExitCode(ReportOf(true, Unavailable("the endpoint is down"))), kExitDone);
}

}  // namespace
}  // namespace kerf::cli
