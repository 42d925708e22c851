#include "trace/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <deque>

#include "trace/checker.h"
#include "trace/fake_disk.h"
#include "trace/reader.h"

namespace kerf::trace {
namespace {

using ::testing::HasSubstr;

PreparedRecord Prepare(const std::string& text) {
  StepInput input;
  input.action = ActionType::kDoCoder;
  input.res = text;
  return PrepareRecord(std::move(input), Names::kDoc, Redactor()).value();
}

class RecorderTest : public ::testing::Test {
 protected:
  std::unique_ptr<Recorder> MustOpen(size_t max_open_tasks = 200) {
    auto recorder = Recorder::Open(disk_.fs, disk_.clock, disk_.ids,
                                   {.log_dir = "logs", .max_open_tasks = max_open_tasks});
    EXPECT_TRUE(recorder.ok());
    return std::move(*recorder);
  }
  FakeDisk disk_;
};

TEST_F(RecorderTest, ClosesTheTaskUsedLongestAgo) {
  auto recorder = MustOpen(2);
  for (const char* task : {"a", "b", "a", "c"}) {
    ASSERT_TRUE(recorder->Record("op", task, Prepare("x")).ok());
  }
  auto other = MustOpen();
  EXPECT_TRUE(other->Record("op", "b", Prepare("y")).ok()) << "b was to be closed";
  EXPECT_EQ(other->Record("op", "a", Prepare("y")).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(other->Record("op", "c", Prepare("y")).error().code, ErrorCode::kUnavailable);
}

TEST_F(RecorderTest, AClosedTaskGoesOnAtItsNextStep) {
  auto recorder = MustOpen(1);
  for (int round = 1; round <= 3; ++round) {
    for (const char* task : {"a", "b", "c"}) {
      const Result<Recorded> done = recorder->Record("op", task, Prepare("x"));
      ASSERT_TRUE(done.ok()) << done.error().message;
      EXPECT_EQ(done->step, round);
    }
  }
}

TEST_F(RecorderTest, ABatchMayHoldMoreTasksThanStayOpen) {
  auto recorder = MustOpen(3);
  std::vector<Submission> submissions;
  for (int i = 0; i < 50; ++i) submissions.push_back({"op", std::to_string(i % 10), Prepare("x")});
  const auto results = recorder->RecordAll(std::move(submissions));
  ASSERT_EQ(results.size(), 50U);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(results[i].ok()) << results[i].error().message;
    EXPECT_EQ(results[i]->step, 1 + i / 10);
    EXPECT_EQ(results[i]->task, std::to_string(i % 10));
  }
}

TEST_F(RecorderTest, OneRefusalDoesNotTakeTheBatchWithIt) {
  auto other = MustOpen();
  ASSERT_TRUE(other->Record("op", "taken", Prepare("x")).ok());
  auto recorder = MustOpen();
  std::vector<Submission> submissions;
  for (const char* task : {"a", "taken", "..", "a"})
    submissions.push_back({"op", task, Prepare("x")});
  const auto results = recorder->RecordAll(std::move(submissions));
  EXPECT_EQ(results[0]->step, 1);
  EXPECT_EQ(results[1].error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(results[2].error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(results[3]->step, 2);
}

// A foreign file stands where one record of the batch would be written: it is taken in as a record
// of its own, and ours follows it.
TEST_F(RecorderTest, AForeignFileOfTheNextStepIsKeptAndCounted) {
  auto recorder = MustOpen();
  ASSERT_TRUE(recorder->Record("op", "a", Prepare("x")).ok());
  ASSERT_TRUE(recorder->Record("op", "b", Prepare("x")).ok());
  disk_.Put("logs/op/Ia_S02_op_DO_CODER_prompt.txt", "foreign");
  std::vector<Submission> submissions;
  for (const char* task : {"b", "a", "b"}) submissions.push_back({"op", task, Prepare("y")});
  const auto results = recorder->RecordAll(std::move(submissions));
  ASSERT_TRUE(results[0].ok() && results[2].ok());
  EXPECT_EQ(results[0]->step, 2);
  EXPECT_EQ(results[2]->step, 3);
  ASSERT_TRUE(results[1].ok()) << results[1].error().message;
  EXPECT_EQ(results[1]->step, 3);
  EXPECT_EQ(disk_.Read("logs/op/Ia_S02_op_DO_CODER_prompt.txt"), "foreign");
}

TEST_F(RecorderTest, RemovedFolderIsNoticed) {
  auto recorder = MustOpen();
  ASSERT_TRUE(recorder->Record("op", "a", Prepare("x")).ok());
  ASSERT_TRUE(disk_.fs.Rename("logs/op", "logs/elsewhere").ok());
  const Result<Recorded> record = recorder->Record("op", "a", Prepare("x"));
  ASSERT_FALSE(record.ok());
  EXPECT_THAT(record.error().message, HasSubstr("logs/op was removed or replaced"));
}

TEST_F(RecorderTest, EmptyLogDirIsRefused) {
  EXPECT_EQ(Recorder::Open(disk_.fs, disk_.clock, disk_.ids, {.log_dir = ""}).error().code,
            ErrorCode::kInvalidInput);
}

// Its first sync of everything fails, and tells so.
class OneBadSync : public FakeFileSystem {
 public:
  Status SyncAll(const std::string& path) override {
    return bad_.exchange(false) ? Status(ErrnoError("sync", path, EIO))
                                : FakeFileSystem::SyncAll(path);
  }

 private:
  std::atomic<bool> bad_ = true;
};

// The texts of a large batch are only in their files when it turns out that these are not on the
// device; the records are taken back and tried again from there.
TEST(Recorder, ABatchThatCouldNotBeSyncedIsTriedAgain) {
  for (const bool threads : {false, true}) {
    SCOPED_TRACE(threads);
    OneBadSync fs;
    FakeClock clock;
    FakeIds ids;
    auto recorder = Recorder::Open(fs, clock, ids, {.log_dir = "logs", .overlap = threads}).value();
    std::deque<Recorder::BatchPtr> begun;
    int made = 0;
    for (int batch = 0; batch < 3; ++batch) {
      std::deque<Submission> waiting;
      for (int i = 0; i < 15; ++i) {
        StepInput input;
        input.action = ActionType::kDoCoder;
        input.res = "result " + std::to_string(++made);
        input.prompt = "prompt " + std::to_string(made);
        waiting.push_back(
            {"relu", "0", PrepareRecord(std::move(input), Names::kDoc, Redactor()).value()});
      }
      begun.push_back(recorder->Begin(waiting, /*more=*/true));
    }
    int64_t step = 0;
    for (Recorder::BatchPtr& batch : begun) {
      for (const Result<Recorded>& done : recorder->Finish(std::move(batch))) {
        ASSERT_TRUE(done.ok()) << done.error().message;
        EXPECT_EQ(done->step, ++step);
        const std::string number = std::to_string(step);
        EXPECT_EQ(fs.ReadFile("logs/" + done->files[0]).value(), "result " + number);
        EXPECT_EQ(fs.ReadFile("logs/" + done->files[1]).value(), "prompt " + number);
      }
    }
    EXPECT_EQ(step, 45);
  }
}

// Another program takes the name of a record in the middle of a stream, where the batches before
// and after it are on their way. All keep their order, and none is taken for the rest of a crash.
TEST(Recorder, AForeignFileInTheMiddleOfAStream) {
  for (const bool threads : {false, true}) {
    for (const int batch_size : {2, 15}) {  // synced one by one, and all together
      SCOPED_TRACE(threads);
      SCOPED_TRACE(batch_size);
      FakeDisk disk;
      auto recorder = Recorder::Open(disk.fs, disk.clock, disk.ids,
                                     {.log_dir = "logs", .overlap = threads, .writers = 2})
                          .value();
      const auto submit = [](int number) {
        StepInput input;
        input.action = ActionType::kDoCoder;
        input.res = "result " + std::to_string(number);
        return Submission{"relu", "0",
                          PrepareRecord(std::move(input), Names::kDoc, Redactor()).value()};
      };
      int made = 0;
      std::deque<Recorder::BatchPtr> begun;
      for (int batch = 0; batch < 4; ++batch) {
        std::deque<Submission> waiting;
        for (int i = 0; i < batch_size; ++i) waiting.push_back(submit(++made));
        if (batch == 1) {
          const std::string step = std::to_string(100 + made).substr(1);
          disk.Put("logs/relu/I0_S" + step + "_relu_DO_CODER_result.txt", "foreign");
        }
        begun.push_back(recorder->Begin(waiting, /*more=*/batch_size > 2));
      }
      int64_t step = 0;
      int number = 0;
      for (Recorder::BatchPtr& batch : begun) {
        for (const Result<Recorded>& done : recorder->Finish(std::move(batch))) {
          ASSERT_TRUE(done.ok()) << done.error().message;
          EXPECT_GT(done->step, step);
          step = done->step;
          EXPECT_EQ(disk.Read("logs/" + done->files[0]), "result " + std::to_string(++number));
        }
      }
      EXPECT_EQ(number, 4 * batch_size);
      EXPECT_EQ(step, 4 * batch_size + 1);  // the foreign one counts
      recorder.reset();
      const OpTrace trace = ReadOp(disk.fs, "logs", "relu").value();
      ASSERT_EQ(trace.tasks.size(), 1U);
      EXPECT_EQ(trace.tasks[0].steps.size(), static_cast<size_t>(4 * batch_size + 1));
      const CheckReport report =
          CheckRun(disk.fs, {"logs", {"relu"}}, [](const std::string&) {}).value();
      EXPECT_FALSE(report.damaged());
    }
  }
}

TEST_F(RecorderTest, AFolderThatCouldNotBeMadeIsMadeLater) {
  disk_.Put("logs/relu/conductor", "a file where a folder should be");
  auto recorder = Recorder::Open(disk_.fs, disk_.clock, disk_.ids, {.log_dir = "logs"}).value();
  const auto record = [&] {
    StepInput input;
    input.kind = RecordKind::kConductor;
    input.action = ActionType::kDoCoder;
    input.res = "fine";
    return recorder->Record("relu", "0",
                            PrepareRecord(std::move(input), Names::kDoc, Redactor()).value());
  };
  EXPECT_FALSE(record().ok());
  ASSERT_TRUE(disk_.fs.Remove("logs/relu/conductor").ok());
  const Result<Recorded> done = record();
  EXPECT_TRUE(done.ok()) << done.error().message;
}

}  // namespace
}  // namespace kerf::trace
