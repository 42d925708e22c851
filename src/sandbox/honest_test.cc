// Programs that do what they should: they must work inside, and their results must come out.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox_testing.h"

namespace kerf::sandbox {
namespace {

using HonestProgram = SandboxTest;

TEST_F(HonestProgram, ReadsInputAndPrints) {
  const Outcome outcome = RunCase("hello", {}, "world");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(outcome.stdout_text, "hello world");
  EXPECT_EQ(outcome.stderr_text, "uid 65534");
}

TEST_F(HonestProgram, GetsAnEmptyInputByDefault) {
  EXPECT_EQ(RunCase("hello").stdout_text, "hello ");
}

TEST_F(HonestProgram, UsesThreads) { EXPECT_EQ(RunCase("threads").stdout_text, "36\n"); }

TEST_F(HonestProgram, AllocatesWithinTheLimit) {
  const Outcome outcome = RunCase("allocate");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_GT(outcome.usage.max_rss_bytes, uint64_t{60} << 20);
  EXPECT_GT(outcome.usage.wall.count(), 0);
}

TEST_F(HonestProgram, LeavesResultsThatBelongToTheCaller) {
  WriteAll(work() + "/given", "input");
  ::chmod((work() + "/given").c_str(), 0600);
  const Outcome outcome = RunCase("write_result");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  const Result<std::string> result = ReadResultFile(work(), "out/result", 100);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result, "42\n");
  for (const char* name : {"", "/given", "/out", "/out/result"}) {
    struct stat info {};
    ASSERT_EQ(::lstat((work() + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_uid, ::geteuid()) << name;
    EXPECT_EQ(info.st_gid, ::getegid()) << name;
  }
}

TEST_F(HonestProgram, CompilesInside) {
  if (::access("/usr/bin/g++", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/g++";
  WriteAll(work() + "/a.cc", "int main() { return 0; }\n");
  limits_.memory_bytes = uint64_t{1} << 30;
  const Outcome outcome = RunCommand({"/usr/bin/g++", "-o", "a", "a.cc"});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(::access((work() + "/a").c_str(), X_OK), 0);
}

TEST_F(HonestProgram, RunsWhatItBuiltWhenThatIsAllowed) {
  if (::access("/usr/bin/cp", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/cp";
  const std::vector<std::string> copy_and_run = {"/bin/sh", "-c",
                                                 "cp /program/hello copy && ./copy </dev/null"};
  EXPECT_FALSE(RunCommand(copy_and_run).succeeded());
  policy_.Weaken(AllowExecFromWorkFolder{});
  EXPECT_EQ(RunCommand(copy_and_run).stdout_text, "hello ");
}

TEST_F(HonestProgram, RunsPython) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  const Outcome outcome = RunCommand({"/usr/bin/python3", "-c", "print(6 * 7)"});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(outcome.stdout_text, "42\n");
}

TEST_F(HonestProgram, SeesAWritablePathWhenThatIsAllowed) {
  const std::string shared = root_ + "/shared";
  ASSERT_EQ(::mkdir(shared.c_str(), 0777), 0);
  ::chmod(shared.c_str(), 0777);
  policy_.Weaken(AllowWritable{shared, "/shared"});
  const Outcome outcome = RunCommand({"/bin/sh", "-c", "echo out > /shared/file"});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(ReadAll(shared + "/file"), "out\n");
}

TEST_F(HonestProgram, SeesADeviceWhenThatIsAllowed) {
  const char* device = "/dev/ptmx";  // any that is not there by default
  struct stat info {};
  if (::stat(device, &info) != 0 || !S_ISCHR(info.st_mode)) GTEST_SKIP() << "no " << device;
  const std::vector<std::string> look = {"/usr/bin/test", "-c", device};
  EXPECT_EQ(RunCommand(look).exit_code, 1);
  policy_.Weaken(AllowDevice{device});
  const Outcome outcome = RunCommand(look);
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
}

TEST_F(HonestProgram, MakesUserNamespacesWhenThatIsAllowed) {
  policy_.Weaken(AllowUserNamespaces{});
  const Outcome outcome = RunCase("user_namespace");
  EXPECT_EQ(outcome.stderr_text, "escaped: unshare\n") << Describe(outcome);
}

TEST_F(HonestProgram, IsNotBlamedForTheSizeOfKerf) {
  const std::vector<char> large(size_t{300} << 20, 'x');
  ASSERT_GT(large.size(), limits_.memory_bytes);
  TakeAway({Layer::kCgroupMemory, Layer::kCgroupPids});
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = RunCase("hello");
    ASSERT_TRUE(outcome.succeeded()) << Describe(outcome);
    EXPECT_LT(outcome.usage.max_rss_bytes, limits_.memory_bytes);
  }
}

TEST_F(HonestProgram, MissingProgramIsASetupError) {
  const Outcome outcome = RunCase("no_such_program");
  EXPECT_EQ(outcome.status, OutcomeStatus::kSetupError) << Describe(outcome);
  EXPECT_EQ(outcome.reason, Reason::kExec);
  EXPECT_EQ(outcome.detail, "cannot execute /program/no_such_program: No such file or directory");
}

}  // namespace
}  // namespace kerf::sandbox
