// Tasks from a source, on a disk in memory; each begins with code and has one verdict.
#include "loop/conduct/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/fake_file_system.h"
#include "loop/conduct/fake_judge.h"

namespace kerf::conduct {
namespace {

using ::testing::UnorderedElementsAre;

class NoModel : public llm::Provider {
 public:
  void Ask(llm::Request /*request*/, Done done) override { done(Unavailable("there is no model")); }
  void Stop() override {}
  [[nodiscard]] std::string name() const override { return "none"; }
};

class Counter : public Observer {
 public:
  void Asked(size_t, const Task&, const std::string&) override {}
  void Answered(size_t, const Task&, const llm::Reply&) override {}
  void Judging(size_t, const Task&) override {}
  void Judged(size_t, const Task&, const Judgement&) override {}
  void Preparing(size_t, const Task&) override {}
  void Waiting(size_t, const Task&, const std::string&) override {}
  void Ended(size_t task, const Task& /*state*/, const TaskOutcome& outcome) override {
    ended.push_back(task);
    passed += outcome.success ? 1 : 0;
    --open;
  }
  void Idle() override {}

  std::vector<size_t> ended;
  int passed = 0;
  int open = 0;
};

class DriverSource : public ::testing::Test {
 protected:
  std::unique_ptr<Task> Next() {
    if (made_ == 5) return nullptr;
    most_ = std::max(most_, ++counter_.open);
    TaskOptions options;
    options.spec.op_name = "relu";
    options.spec.task_id = std::to_string(made_++);
    options.spec.task_desc = "class Model: pass";
    options.spec.framework = "numpy";
    options.spec.arch = "x86_64";
    options.rules.limit_steps = 1;
    options.start.action = ActionType::kVerify;
    options.start.code = "// code";
    options.log_dir = "logs";
    auto task = Task::Open(std::move(options), {fs_, clock_, ids_, prompts_, redactor_});
    EXPECT_TRUE(task.ok()) << task.error().message;
    return task.ok() ? std::move(*task) : nullptr;
  }

  FakeFileSystem fs_;
  FakeClock clock_;
  FakeIds ids_;
  const trace::Redactor redactor_;
  llm::PromptLibrary prompts_ = *llm::PromptLibrary::Open(fs_, {});
  NoModel model_;
  FakeJudge judge_{std::vector<FakeVerdict>(5)};
  Counter counter_;
  Driver driver_{
      [&](const std::string&) -> llm::Provider& { return model_; }, judge_, counter_, {}};
  int made_ = 0;
  int most_ = 0;
};

TEST_F(DriverSource, HasAtMostSoManyUnderWay) {
  driver_.Run([&] { return Next(); }, 2, [] { return false; });
  EXPECT_THAT(counter_.ended, UnorderedElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(counter_.passed, 5);
  EXPECT_EQ(most_, 2);
}

TEST_F(DriverSource, IsAskedForNoMoreAfterAnInterruption) {
  driver_.Run([&] { return Next(); }, 1, [&] { return counter_.ended.size() == 2; });
  EXPECT_EQ(made_, 2);
  EXPECT_THAT(counter_.ended, UnorderedElementsAre(0, 1));
}

}  // namespace
}  // namespace kerf::conduct
