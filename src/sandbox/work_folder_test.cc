#include "sandbox/work_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox_testing.h"

namespace kerf::sandbox {
namespace {

class WorkFolder : public SandboxTest {
 protected:
  ErrorCode CodeOf(const std::string& name) {
    const Result<std::string> result = ReadResultFile(work(), name, 100);
    EXPECT_FALSE(result.ok()) << name;
    return result.ok() ? ErrorCode::kInternal : result.error().code;
  }
};

TEST_F(WorkFolder, LinksInPlaceOfResultsAreNotFollowed) {
  WriteAll(work() + "/inner", "inner");
  const Outcome outcome = RunCase("symlink_result", {secret()});
  ASSERT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(CodeOf("result"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf("out/secret"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf("within"), ErrorCode::kDenied);
  struct stat info {};
  ASSERT_EQ(::lstat((work() + "/result").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());
  ASSERT_EQ(::stat(secret().c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid()) << "the owner was changed through a link";
}

TEST_F(WorkFolder, OnlyRegularFilesAreResults) {
  const Outcome outcome = RunCase("fifo_result");
  ASSERT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(CodeOf("fifo"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf("folder"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf("socket"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf("missing"), ErrorCode::kNotFound);
}

TEST_F(WorkFolder, ResultsHaveALimit) {
  WriteAll(work() + "/fits", std::string(100, 'x'));
  WriteAll(work() + "/large", std::string(101, 'x'));
  EXPECT_TRUE(ReadResultFile(work(), "fits", 100).ok());
  EXPECT_EQ(CodeOf("large"), ErrorCode::kDenied);
}

TEST_F(WorkFolder, NamesThatLeadOutAreDenied) {
  EXPECT_EQ(CodeOf("../outside/secret"), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(secret()), ErrorCode::kDenied);
}

TEST_F(WorkFolder, MeasuringStopsAtTheLimit) {
  for (int i = 0; i < 10; ++i) WriteAll(work() + "/" + std::to_string(i), "x");
  EXPECT_EQ(MeasureTree(work(), {1 << 30, 100}).entries, 10U);
  EXPECT_EQ(MeasureTree(work(), {1 << 30, 4}).entries, 5U);
  EXPECT_GT(MeasureTree(work(), {1 << 30, 100}).bytes, 0U);
}

TEST_F(WorkFolder, RemovingDoesNotFollowLinks) {
  ASSERT_EQ(::symlink((root_ + "/outside").c_str(), (work() + "/link").c_str()), 0);
  ASSERT_TRUE(RemoveTree(work()).ok());
  EXPECT_EQ(ReadAll(secret()), "secret");
}

}  // namespace
}  // namespace kerf::sandbox
