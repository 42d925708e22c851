// Resume, fork and replay, on a disk in memory with a scripted model.
#include "loop/conduct/task.h"

#include <gtest/gtest.h>

#include <map>

#include "base/fake_file_system.h"
#include "llm/scripted_provider.h"
#include "loop/conduct/driver.h"
#include "loop/conduct/fake_judge.h"
#include "trace/reader.h"

namespace kerf::conduct {
namespace {

constexpr char kScript[] = R"({"replies": [
 {"agent": "aul_designer", "json": {"code": "import aul as U # 1", "description": "d1"}},
 {"agent": "conductor_check", "json": {"result": 1, "reason": "right", "suggestions": ""}},
 {"agent": "cpp_coder", "json": {"code": "// 1", "description": "c1"}, "finish": "stop"},
 {"agent": "conductor_check", "text": "not JSON"},
 {"agent": "conductor_check", "json": {"result": 1, "reason": "right", "suggestions": ""}},
 {"agent": "conductor_analyze", "json": {"result": 1, "reason": "design", "suggestions": "s"}},
 {"agent": "aul_designer_fix", "json": {"code": "import aul as U # 2", "description": "d2"}},
 {"agent": "conductor_check", "json": {"result": 1, "reason": "right", "suggestions": ""}},
 {"agent": "cpp_coder", "text": "{\"code\": \"// cut", "finish": "length"},
 {"agent": "cpp_coder_fix", "json": {"code": "// 2", "description": "c2"}},
 {"agent": "conductor_check", "json": {"result": 1, "reason": "right", "suggestions": ""}},
 {"agent": "cpp_coder_fix", "json": {"code": "// 3", "description": "c3"}},
 {"agent": "conductor_check", "json": {"result": 1, "reason": "right", "suggestions": ""}}]})";

std::vector<FakeVerdict> Verdicts() {
  return {{VerdictStatus::kWrongValue, "value", "12 wrong", "a log"},
          {VerdictStatus::kPassed, "", "passed", "", 1.5},
          {VerdictStatus::kPassed, "", "passed", "", 1.7}};
}

class Quiet : public Observer {
 public:
  void Asked(size_t, const Task&, const std::string&) override { ++asked; }
  void Answered(size_t, const Task&, const llm::Reply&) override { ++answers; }
  void Judging(size_t, const Task&) override {}
  void Judged(size_t, const Task&, const Judgement&) override { ++answers; }
  void Preparing(size_t, const Task&) override {}
  void Waiting(size_t, const Task&, const std::string&) override {}
  void Ended(size_t, const Task&, const TaskOutcome&) override {}
  void Idle() override {}
  int asked = 0;
  int answers = 0;
};

// A disk, a model and a judge that outlive the process that uses them.
class World {
 public:
  explicit World(std::vector<FakeVerdict> verdicts = Verdicts(), const char* script = kScript)
      : models_(*llm::ScriptedProvider::Parse(script, "script")),
        prompts_(*llm::PromptLibrary::Open(fs_, {})),
        judge_(std::move(verdicts)) {}

  static TaskOptions Options(const std::string& log_dir) {
    TaskOptions options;
    options.spec.op_name = "relu";
    options.spec.task_desc = "class Model: pass";
    options.spec.framework = "numpy";
    options.spec.arch = "x86_64";
    options.spec.task_type = "profile";
    options.spec.limit_steps = 10;
    options.rules.limit_steps = 10;
    options.rules.improve = true;
    options.log_dir = log_dir;
    options.hardware = "a machine";
    return options;
  }
  TaskPorts Ports() { return {fs_, clock_, ids_, prompts_, redactor_}; }

  // Runs until the end, or until `most` answers have come.
  Result<TaskOutcome> Run(Result<std::unique_ptr<Task>> task, int most = 1000) {
    KERF_ASSIGN_OR_RETURN(auto opened, std::move(task));
    std::vector<std::unique_ptr<Task>> tasks;
    tasks.push_back(std::move(opened));
    quiet_ = Quiet();
    Driver driver([&](const std::string&) -> llm::Provider& { return *models_; }, judge_, quiet_,
                  options);
    return driver.Run(tasks, [&] { return quiet_.answers >= most - 1; })[0];
  }
  Result<TaskOutcome> Start(const std::string& log_dir, int most = 1000) {
    return Run(Task::Open(Options(log_dir), Ports()), most);
  }
  Result<TaskOutcome> Again(const std::string& from, const std::string& log_dir, PlaybackMode mode,
                            int64_t until = -1) {
    KERF_ASSIGN_OR_RETURN(Playback playback, Playback::Read(fs_, from, "relu", "0", until));
    return Run(Task::Open(Options(log_dir), Ports(), std::move(playback), mode));
  }

  // Every file but the journal, whose lines have times and numbers of their own.
  std::map<std::string, std::string> Files(const std::string& dir) {
    std::map<std::string, std::string> files;
    for (const DirEntry& entry : fs_.List(dir).value()) {
      const std::string path = JoinPath(dir, entry.name);
      if (entry.name == trace::kPrivateFolder || entry.name == trace::kJournalName) continue;
      if (entry.kind == FileKind::kDirectory) {
        for (auto& [name, bytes] : Files(path)) files[entry.name + "/" + name] = bytes;
      } else {
        files[entry.name] = fs_.ReadFile(path).value();
      }
    }
    return files;
  }
  FakeFileSystem& fs() { return fs_; }
  [[nodiscard]] const Quiet& quiet() const { return quiet_; }
  [[nodiscard]] size_t judged() const { return judge_.asked(); }

  FakeJudge& judge() { return judge_; }
  Driver::Options options;

 private:
  FakeFileSystem fs_;
  FakeClock clock_;
  FakeIds ids_;
  const trace::Redactor redactor_;
  std::unique_ptr<llm::ScriptedProvider> models_;
  llm::PromptLibrary prompts_;
  FakeJudge judge_;
  Quiet quiet_;
};

TEST(Task, DoesNotHaveTheSameCodeJudgedTwice) {
  // A model that never changes its mind.
  constexpr char kStubborn[] = R"({"per_owner": true, "replies": [
   {"agent": "cpp_coder", "json": {"code": "// same", "description": "d"}},
   {"agent": "cpp_coder_fix", "json": {"code": "// same", "description": "d"}, "repeat": true}]})";
  World world({{VerdictStatus::kWrongValue, "value", "12 wrong", "a log"},
               {VerdictStatus::kPassed, "", "passed", ""}},
              kStubborn);
  TaskOptions options = World::Options("logs");
  options.rules.coder_only = true;
  options.start.action = ActionType::kDoCoderDirect;
  const auto outcome = world.Run(Task::Open(options, world.Ports()));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->success);
  EXPECT_EQ(world.judge().asked(), 1U);
  // The model is told, and the record has a verdict for every candidate.
  const auto playback = Playback::Read(world.fs(), "logs", "relu", "0", -1);
  ASSERT_TRUE(playback.ok());
  std::string logs;
  std::string prompts;
  for (Playback rest = *playback; !rest.empty();) {
    const RecordedAnswer answer = rest.Take();
    logs += answer.attempt.log;
    prompts += answer.prompt;
  }
  EXPECT_NE(logs.find("the same code as in step 2"), std::string::npos) << logs;
  EXPECT_NE(prompts.find("the same code as in step 2"), std::string::npos);
}

TEST(Task, JudgesTheSameCodeAgainWhenItRanOutOfTime) {
  constexpr char kStubborn[] = R"({"per_owner": true, "replies": [
   {"agent": "cpp_coder", "json": {"code": "// same", "description": "d"}},
   {"agent": "cpp_coder_fix", "json": {"code": "// same", "description": "d"}, "repeat": true}]})";
  World world({{VerdictStatus::kTimeout, "wall", "too slow", "a log"},
               {VerdictStatus::kPassed, "", "passed", ""}},
              kStubborn);
  TaskOptions options = World::Options("logs");
  options.rules.coder_only = true;
  options.rules.improve = false;
  options.start.action = ActionType::kDoCoderDirect;
  const auto outcome = world.Run(Task::Open(options, world.Ports()));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->success);
  EXPECT_EQ(world.judge().asked(), 2U);
}

TEST(Driver, AsksNoModelForATaskThatCannotBeJudged) {
  World world;
  world.options.prepare = true;
  world.judge().cannot_prepare = InvalidInput("the reference divides by zero");
  const auto outcome = world.Start("logs");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->success);
  EXPECT_EQ(outcome->because, "it cannot be judged: the reference divides by zero");
  ASSERT_TRUE(outcome->error.has_value());
  EXPECT_EQ(world.quiet().asked, 0);
}

TEST(Driver, PreparesATaskOnce) {
  World world;
  world.options.prepare = true;
  const auto outcome = world.Start("logs");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->success) << outcome->because;
  EXPECT_EQ(world.judge().prepared(), 1U);
}

TEST(Task, KeepsARightKernelThatTheMachineWasTooNoisyToMeasure) {
  const FakeVerdict noisy{VerdictStatus::kSuspicious, "unstable", "too noisy", "", 9.9};
  World world({noisy, noisy, noisy});
  const auto outcome = world.Start("logs");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->success) << outcome->because;
  EXPECT_FALSE(outcome->best->speedup.has_value());
  World other(
      {{VerdictStatus::kSuspicious, "faster_than_light", "too fast", "", 9.9}, noisy, noisy});
  EXPECT_EQ(other.Start("logs")->best->reason, "unstable");
}

// Near its limit a run does without checks; more steps later must not make that a contradiction.
TEST(TaskResume, GoesOnWithMoreStepsThanItWasBegunWith) {
  World world;
  const auto options = [](int64_t limit) {
    TaskOptions made = World::Options("logs");
    made.rules.limit_steps = limit;
    made.spec.limit_steps = limit;
    return made;
  };
  const auto first = world.Run(Task::Open(options(3), world.Ports()));
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->success);
  auto playback = Playback::Read(world.fs(), "logs", "relu", "0", -1);
  ASSERT_TRUE(playback.ok());
  const auto more = world.Run(
      Task::Open(options(10), world.Ports(), std::move(*playback), PlaybackMode::kResume));
  ASSERT_TRUE(more.ok()) << more.error().message;
  EXPECT_TRUE(more->success) << more->because;
}

TEST(TaskResume, FromEveryPointGivesTheSameTreeAndAsksNothingTwice) {
  World whole;
  const auto outcome = whole.Start("logs");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  ASSERT_TRUE(outcome->success) << outcome->because;
  EXPECT_EQ(outcome->best->speedup, 1.7);
  const auto expected = whole.Files("logs");
  const int answers = whole.quiet().answers;
  ASSERT_EQ(answers, 16);

  for (int most = 1; most < answers; ++most) {
    SCOPED_TRACE(most);
    World world;
    // The model and the judge have each answer once: asking twice would leave none for the end.
    const auto first = world.Start("logs", most);
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ(first->because, "interrupted");
    const auto second = world.Again("logs", "logs", PlaybackMode::kResume);
    ASSERT_TRUE(second.ok()) << second.error().message;
    EXPECT_EQ(second->because, outcome->because);
    EXPECT_EQ(second->best->step, outcome->best->step);
    EXPECT_EQ(world.Files("logs"), expected);
  }
}

TEST(TaskResume, FinishedTaskEndsAtOnce) {
  World world;
  ASSERT_TRUE(world.Start("logs").ok());
  const auto again = world.Again("logs", "logs", PlaybackMode::kResume);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->success);
  EXPECT_EQ(world.quiet().asked, 0);
}

TEST(TaskResume, OtherTextOfTheTaskIsRefused) {
  World world;
  ASSERT_TRUE(world.Start("logs", 3).ok());
  auto playback = Playback::Read(world.fs(), "logs", "relu", "0", -1);
  ASSERT_TRUE(playback.ok());
  TaskOptions options = World::Options("logs");
  options.spec.task_desc += " # changed";
  const auto task = Task::Open(options, world.Ports(), std::move(*playback), PlaybackMode::kResume);
  ASSERT_FALSE(task.ok());
  EXPECT_NE(task.error().message.find("another text of the task"), std::string::npos);
}

TEST(TaskResume, OptionsThatLeadElsewhereAreRefused) {
  World world;
  ASSERT_TRUE(world.Start("logs", 5).ok());
  auto playback = Playback::Read(world.fs(), "logs", "relu", "0", -1);
  ASSERT_TRUE(playback.ok());
  TaskOptions options = World::Options("logs");
  options.rules.self_check = false;
  const auto outcome =
      world.Run(Task::Open(options, world.Ports(), std::move(*playback), PlaybackMode::kResume));
  ASSERT_TRUE(outcome.ok());
  ASSERT_TRUE(outcome->error.has_value());
  EXPECT_NE(outcome->error->message.find("recorded with others"), std::string::npos);
}

TEST(Task, RefusesToBeginWhereATraceIs) {
  World world;
  ASSERT_TRUE(world.Start("logs", 3).ok());
  const auto again = world.Start("logs");
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("--resume"), std::string::npos);
}

TEST(TaskFork, TakesTheFirstStepsAndGoesOn) {
  World world;
  ASSERT_TRUE(world.Start("logs", 6).ok());
  const auto fork = world.Again("logs", "fork", PlaybackMode::kFork, 2);
  ASSERT_TRUE(fork.ok()) << fork.error().message;
  const auto original = world.Files("logs/relu");
  const auto forked = world.Files("fork/relu");
  for (const char* name : {"I0_S01_relu_DO_DESIGNER_prompt.txt", "I0_S02_relu_DO_CODER_result.txt",
                           "conductor/I0_S02_relu_CheckCoder_prompt.txt"}) {
    ASSERT_TRUE(forked.contains(name)) << name;
    EXPECT_EQ(forked.at(name), original.at(name));
  }
  EXPECT_EQ(forked.at("I0_S03_relu_VERIFY_verify_res.txt"), "True");  // the second verdict there is
}

TEST(TaskReplay, SameVerdictsGiveNoDifference) {
  World recorded;
  ASSERT_TRUE(recorded.Start("logs").ok());
  // A world of the same verdicts, with the recorded disk.
  World fresh;
  const auto outcome = [&]() -> Result<TaskOutcome> {
    KERF_ASSIGN_OR_RETURN(Playback playback,
                          Playback::Read(recorded.fs(), "logs", "relu", "0", -1));
    return fresh.Run(Task::Open(World::Options("nowhere"), fresh.Ports(), std::move(playback),
                                PlaybackMode::kReplay));
  }();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->divergence.has_value()) << *outcome->divergence;
  EXPECT_EQ(fresh.judged(), 3U);
  EXPECT_EQ(fresh.quiet().asked, 0);
}

TEST(TaskReplay, TellsTheFirstVerdictThatDiffers) {
  World world;
  ASSERT_TRUE(world.Start("logs", 6).ok());  // one verdict: the first is a failure
  const auto outcome = world.Again("logs", "nowhere", PlaybackMode::kReplay);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  ASSERT_TRUE(outcome->divergence.has_value());
  EXPECT_EQ(
      outcome->divergence->find("step 3: the verdict was wrong_value value, now it is passed"), 0U)
      << *outcome->divergence;
}

TEST(TaskReplay, TellsThePromptThatDiffers) {
  World world;
  ASSERT_TRUE(world.Start("logs", 3).ok());
  auto playback = Playback::Read(world.fs(), "logs", "relu", "0", -1);
  ASSERT_TRUE(playback.ok());
  TaskOptions options = World::Options("nowhere");
  options.hardware = "another machine";
  const auto outcome =
      world.Run(Task::Open(options, world.Ports(), std::move(*playback), PlaybackMode::kReplay));
  ASSERT_TRUE(outcome.ok());
  ASSERT_TRUE(outcome->divergence.has_value());
  EXPECT_NE(outcome->divergence->find("recorded 'a machine', now 'another machine'"),
            std::string::npos)
      << *outcome->divergence;
}

TEST(TaskStart, GivenCodeIsRecordedAndResumedWithoutFlags) {
  World world;
  TaskOptions options = World::Options("logs");
  options.start = {ActionType::kVerify, "a design", "// given", ""};
  const auto first = world.Run(Task::Open(options, world.Ports()), 1);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto files = world.Files("logs/relu");
  EXPECT_EQ(files.at("I0_S02_relu_DO_CODER_result.txt").find("// given"), 0U);
  EXPECT_TRUE(files.contains("I0_S03_relu_VERIFY_error_log.txt"));
  const auto second = world.Again("logs", "logs", PlaybackMode::kResume);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_FALSE(second->error.has_value() && second->error->code == ErrorCode::kInvalidInput)
      << second->error->message;
}

}  // namespace
}  // namespace kerf::conduct
