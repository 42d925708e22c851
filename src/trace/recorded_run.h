// For tests: records a run into a fresh directory of the real disk, with a clock that moves only
// when told to and ids 1, 2, 3 …, so that everything made from it is the same every time.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "trace/recorder.h"

namespace kerf::trace {

class RecordedRun {
 public:
  RecordedRun() : clock_(int64_t{1'760'000'000} * 1'000'000'000) {
    std::string pattern = (std::filesystem::temp_directory_path() / "kerf_XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  ~RecordedRun() {
    recorders_.clear();
    std::filesystem::remove_all(root_);
  }
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  // The clock first moves by `seconds`, which is how long the step took unless its meta says
  // something else.
  void Record(const std::string& op, const std::string& task, StepInput input, int seconds = 1,
              const std::string& run = "run") {
    clock_.Advance(int64_t{seconds} * 1'000'000'000);
    std::unique_ptr<Recorder>& recorder = recorders_[run];
    if (recorder == nullptr) {
      auto opened = Recorder::Open(*fs_, clock_, ids_, {.log_dir = Path(run)});
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      recorder = *std::move(opened);
    }
    auto record = PrepareRecord(std::move(input), Names::kDoc, redactor_);
    ASSERT_TRUE(record.ok()) << record.error().message;
    const Result<Recorded> done = recorder->Record(op, task, *std::move(record));
    ASSERT_TRUE(done.ok()) << done.error().message;
  }

  void Model(const std::string& op, const std::string& task, ActionType action,
             const std::string& prompt, const std::string& reply, const std::string& reasoning,
             const std::string& meta, int seconds = 1) {
    Record(op, task,
           {.action = action, .res = reply, .prompt = prompt, .reasoning = reasoning, .meta = meta},
           seconds);
  }

  void Verify(const std::string& op, const std::string& task, const std::string& verify_res,
              const std::string& log, const std::string& profile, const std::string& meta,
              int seconds = 1) {
    Record(op, task,
           {.kind = RecordKind::kVerifier,
            .action = ActionType::kVerify,
            .verify_res = verify_res,
            .verify_log = log,
            .profile = profile,
            .meta = meta},
           seconds);
  }

  void Judge(const std::string& op, const std::string& task, ActionType judged,
             const std::string& prompt, const std::string& reply, const std::string& meta = "",
             int seconds = 1) {
    Record(op, task,
           {.kind = RecordKind::kConductor,
            .action = judged,
            .res = reply,
            .prompt = prompt,
            .meta = meta},
           seconds);
  }

  [[nodiscard]] std::string Path(const std::string& name = "run") const {
    return root_ + "/" + name;
  }
  [[nodiscard]] FileSystem& fs() { return *fs_; }

 private:
  std::string root_;
  std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  FakeClock clock_;
  FakeIds ids_;
  const Redactor redactor_;
  std::map<std::string, std::unique_ptr<Recorder>> recorders_;
};

}  // namespace kerf::trace
