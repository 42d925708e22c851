#include "loop/optimize/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"

namespace kerf::optimize {
namespace {

using ::testing::HasSubstr;

Settings SomeSettings() {
  Settings settings;
  settings.data_sha256 = "abc";
  settings.rules.descendants = 3;
  settings.rules.synth = true;
  settings.impl = "triton";
  settings.backend = "cpu";
  settings.arch = "x86_64";
  settings.measure = false;
  return settings;
}

PairTexts Texts(int n) {
  const std::string mark = std::to_string(n);
  return {"jsonl " + mark + "\n", "mem " + mark};
}

TEST(RunFiles, RememberWhatTheRunWasAskedToDo) {
  FakeFileSystem fs;
  { ASSERT_TRUE(RunFiles::Begin(fs, "runs/X", SomeSettings()).ok()); }
  const Result<RunFiles> files = RunFiles::Resume(fs, "runs/X");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->settings().rules.descendants, 3);
  EXPECT_TRUE(files->settings().rules.synth);
  EXPECT_FALSE(files->settings().measure);
  EXPECT_EQ(files->settings().impl, "triton");
  EXPECT_EQ(files->last_complete(), -1);
}

TEST(RunFiles, RefuseASecondBeginningAndASecondProcess) {
  FakeFileSystem fs;
  {
    const Result<RunFiles> files = RunFiles::Begin(fs, "X", SomeSettings());
    ASSERT_TRUE(files.ok());
    const Result<RunFiles> other = RunFiles::Resume(fs, "X");
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().code, ErrorCode::kUnavailable);
  }
  const Result<RunFiles> again = RunFiles::Begin(fs, "X", SomeSettings());
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("--resume"));
  EXPECT_EQ(RunFiles::Resume(fs, "Y").error().code, ErrorCode::kNotFound);
}

TEST(RunFiles, RefuseAPairThatSomebodyChanged) {
  FakeFileSystem fs;
  {
    Result<RunFiles> files = RunFiles::Begin(fs, "X", SomeSettings());
    ASSERT_TRUE(files.ok() && files->Write(0, Texts(0), true).ok());
  }
  ASSERT_TRUE(RunFiles::Resume(fs, "X").ok());
  fs.CutFile("X_mem_0.json", 2);
  const Result<RunFiles> files = RunFiles::Resume(fs, "X");
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(files.error().message, HasSubstr("X_mem_0.json"));
}

// At every point at which the machine can lose its power while two iterations are written, one of
// them twice: where a jsonl stands, its own mem stands beside it.
TEST(RunFiles, AJsonlNeverStandsBesideAnotherOnesMem) {
  bool finished = false;
  for (int n = 1; !finished; ++n) {
    FakeFileSystem fs;
    {
      Result<RunFiles> files = RunFiles::Begin(fs, "X", SomeSettings());
      ASSERT_TRUE(files.ok());
      fs.CrashAfter(n);
      finished = files->Write(0, Texts(0), true).ok() && files->Write(1, Texts(1), false).ok() &&
                 files->Write(1, Texts(2), true).ok();
      fs.Crash();
    }
    for (int i = 0; i < 2; ++i) {
      const Result<std::string> jsonl = fs.ReadFile(JsonlPath("X", i));
      if (!jsonl.ok()) continue;
      const Result<std::string> mem = fs.ReadFile(MemPath("X", i));
      ASSERT_TRUE(mem.ok()) << "crash " << n;
      EXPECT_EQ(*jsonl, "jsonl " + mem->substr(4) + "\n") << "crash " << n;
    }
    const Result<RunFiles> resumed = RunFiles::Resume(fs, "X");
    ASSERT_TRUE(resumed.ok()) << "crash " << n << ": " << resumed.error().message;
    EXPECT_LE(resumed->last_complete(), 1);
    if (finished) {
      EXPECT_EQ(resumed->last_complete(), 1);
    }
  }
}

}  // namespace
}  // namespace kerf::optimize
