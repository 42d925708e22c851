// Shrinks real numpy tasks in the real sandbox, where an interpreter has numpy; else skipped.
#include "loop/task/task_shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "loop/task/interpreter_testing.h"

namespace kerf::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTask[] = R"(import numpy as np

batch_size = 64
columns = 4096  # of a row


class Model:
    def __call__(self, x):
        return np.maximum(x, 0)


def get_inputs():
    return [np.random.randn(batch_size, columns).astype(np.float32)]


def get_init_inputs():
    return []
)";

class ShrinkTaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto level = sandbox::ChooseLevel(sandbox::Mode::kRequired, sandbox::Probe());
        !level.ok()) {
      GTEST_SKIP() << level.error().message;
    }
    options_.run.mode = sandbox::Mode::kRequired;
    char name[] = "/tmp/kerf-shrink-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }

  Result<ShrunkTask> Shrink(const std::string& text) {
    KERF_ASSIGN_OR_RETURN(const TaskFile task, MakeTaskFile("relu_numpy.py", text));
    static const Result<Interpreter> numpy = InterpreterForTests(*fs_, Framework::kNumpy);
    KERF_ASSIGN_OR_RETURN(const Interpreter interpreter, numpy);
    return ShrinkTask(*fs_, task, options_, interpreter, root_);
  }

  std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  ShrinkOptions options_;
  std::string root_;
};

TEST_F(ShrinkTaskTest, ChangesTheSizesAndNothingElse) {
  options_.max_bytes = 1 << 20;  // two tensors of 1 MiB have to become half of that together
  const auto shrunk = Shrink(kTask);
  if (!shrunk.ok() && shrunk.error().code == ErrorCode::kUnavailable) {
    GTEST_SKIP() << shrunk.error().message;
  }
  ASSERT_TRUE(shrunk.ok()) << shrunk.error().message;
  EXPECT_THAT(shrunk->report.changed, ElementsAre(SizeChange{"batch_size", 3, 64, 32}));
  EXPECT_EQ(shrunk->report.bytes_before, 2 << 20);
  EXPECT_EQ(shrunk->report.bytes, 1 << 20);
  std::string expected = kTask;
  expected.replace(expected.find("64"), 2, "32");
  EXPECT_EQ(shrunk->text, expected);
  EXPECT_THAT(*fs_->List(root_ + "/shrink"), IsEmpty());
}

TEST_F(ShrinkTaskTest, LeavesATaskThatFits) {
  const auto shrunk = Shrink(kTask);
  if (!shrunk.ok() && shrunk.error().code == ErrorCode::kUnavailable) {
    GTEST_SKIP() << shrunk.error().message;
  }
  ASSERT_TRUE(shrunk.ok()) << shrunk.error().message;
  EXPECT_THAT(shrunk->report.changed, IsEmpty());
  EXPECT_EQ(shrunk->text, kTask);
}

TEST_F(ShrinkTaskTest, SaysThatATaskCannotBeSmallEnough) {
  options_.max_bytes = 3;
  const auto shrunk = Shrink(kTask);
  ASSERT_FALSE(shrunk.ok());
  if (shrunk.error().code == ErrorCode::kUnavailable) GTEST_SKIP() << shrunk.error().message;
  EXPECT_EQ(shrunk.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(shrunk.error().message, HasSubstr("no size can be halved any more"));
}

TEST(ParseSizes, RefusesWhatIsNoReport) {
  EXPECT_EQ(ParseSizes("[]").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ParseSizes(R"({"changed": 3})").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ParseSizes(R"({"error": "TooLarge"})").error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(ParseSizes(R"({"changed": [], "bytes": 8, "new": {}})").ok());
}

}  // namespace
}  // namespace kerf::task
