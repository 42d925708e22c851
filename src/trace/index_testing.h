// A run in a fresh directory, for the tests of the index and the search.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "trace/index.h"
#include "trace/search.h"
#include "trace/trace.h"

namespace kerf::trace {

// One second per look.
class SecondsClock : public Clock {
 public:
  int64_t WallNanos() override { return now_ += 1'000'000'000; }
  int64_t MonotonicNanos() override { return now_; }

 private:
  int64_t now_ = 1'790'000'000'000'000'000;
};

class RunTest : public testing::Test {
 protected:
  RunTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kerf_index.XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    run_ = root_ + "/run";
    std::filesystem::create_directory(run_);
  }
  ~RunTest() override {
    std::error_code ignored;
    std::filesystem::permissions(run_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(root_, ignored);
  }

  void Insert(const std::string& op, const std::string& task, StepInput input) {
    const Redactor redactor;
    auto recorder = Recorder::Open(*fs_, clock_, *ids_, {.log_dir = run_});
    ASSERT_TRUE(recorder.ok());
    auto record = PrepareRecord(std::move(input), Names::kDoc, redactor);
    ASSERT_TRUE(record.ok());
    const auto done = (*recorder)->Record(op, task, std::move(*record));
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  void Code(const std::string& op, const std::string& task, const std::string& res,
            const std::string& prompt = "", const std::string& reasoning = "") {
    StepInput input;
    input.action = ActionType::kDoCoder;
    input.res = res;
    input.prompt = prompt;
    input.reasoning = reasoning;
    Insert(op, task, input);
  }
  void Verify(const std::string& op, const std::string& task, const std::string& result,
              const std::string& log, const std::string& profile = "") {
    StepInput input;
    input.kind = RecordKind::kVerifier;
    input.action = ActionType::kVerify;
    input.verify_res = result;
    input.verify_log = log;
    input.profile = profile;
    Insert(op, task, input);
  }

  void Write(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Makes a folder look as if nothing had happened to it for a while.
  void Age(const std::string& dir, int hours) {
    using std::filesystem::last_write_time;
    const auto then = std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
      last_write_time(entry, then);
    }
    last_write_time(dir, then);
  }

  std::unique_ptr<TraceIndex> Open() {
    auto index = TraceIndex::Open(*fs_, *wall_, run_, {.cache_home = root_ + "/cache"});
    EXPECT_TRUE(index.ok()) << index.error().message;
    return std::move(*index);
  }
  IndexReport Update(TraceIndex& index) {
    auto report = index.Update();
    EXPECT_TRUE(report.ok()) << report.error().message;
    return *report;
  }
  // What a user sees: opens, updates, searches.
  std::vector<SearchHit> Find(const SearchRequest& request) {
    const auto index = Open();
    Update(*index);
    auto page = Search(*index, request);
    EXPECT_TRUE(page.ok()) << page.error().message;
    return page.ok() ? page->hits : std::vector<SearchHit>();
  }
  std::vector<SearchHit> Find(const std::string& query) {
    SearchRequest request;
    request.query = query;
    return Find(request);
  }
  size_t Count(const std::string& query) { return Find(query).size(); }
  std::string IndexFile() const { return run_ + "/.kerf/index.sqlite"; }
  std::string Journal(const std::string& op) const { return run_ + "/" + op + "/journal.jsonl"; }

  const std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  const std::unique_ptr<Clock> wall_ = MakeSystemClock();
  const std::unique_ptr<IdSource> ids_ = MakeRandomIds();
  SecondsClock clock_;
  std::string root_;
  std::string run_;
};

}  // namespace kerf::trace
