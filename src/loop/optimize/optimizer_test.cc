// A run on a disk in memory, with a model and a judge that always answer the same to the same,
// killed at every point.
#include "loop/optimize/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "base/fake_file_system.h"
#include "base/json_writer.h"
#include "trace/reader.h"

namespace kerf::optimize {
namespace {

using ::testing::HasSubstr;

// The largest N of "attempt N" in a text; 0 without one.
int LastAttempt(const std::string& text) {
  static const std::regex kAttempt("attempt ([0-9]+)");
  int last = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), kAttempt), end; at != end; ++at) {
    last = std::max(last, std::stoi((*at)[1]));
  }
  return last;
}

std::string CodeReply(int attempt, const std::string& who) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("code").String("import triton\n# attempt " + std::to_string(attempt) +
                                        " of " + who + "\n");
  json.Key("description").String("strategy " + std::to_string(attempt)).EndObject();
  return text;
}

// Counts up from what the prompt shows.
class CountingModel : public llm::Provider {
 public:
  void Ask(llm::Request request, Done done) override {
    ++asked_[request.owner + " " + request.agent + " " + request.messages[0].content];
    ++total;
    if (fail_after > 0 && total > fail_after) return done(Unavailable("the endpoint is down"));
    const std::string& prompt = request.messages[0].content;
    const int attempt = LastAttempt(prompt);
    llm::Reply reply;
    reply.finish = llm::Finish::kStop;
    reply.attempts.emplace_back();
    reply.text = request.agent == "optimize_reflect"
                     ? "thoughts on attempt " + std::to_string(attempt)
                     : CodeReply(attempt + 1, request.owner);
    done(std::move(reply));
  }
  void Stop() override {}
  [[nodiscard]] std::string name() const override { return "counting"; }

  [[nodiscard]] int MostOfOne() const {
    int most = 0;
    for (const auto& [request, times] : asked_) most = std::max(most, times);
    return most;
  }
  int total = 0;
  int fail_after = 0;

 private:
  std::map<std::string, int> asked_;
};

// 1 does not compile, 2 is wrong, from 3 on they are right and not always faster.
class CountingJudge : public conduct::Judge {
 public:
  void Verify(const TaskSpec& spec, Candidate candidate, Done done, Tell /*tell*/) override {
    ++judged;
    const int attempt = LastAttempt(candidate.source);
    conduct::Judgement judgement;
    Verdict& verdict = judgement.verdict;
    verdict.op_name = spec.op_name;
    verdict.status = attempt == 1   ? VerdictStatus::kCompileError
                     : attempt == 2 ? VerdictStatus::kWrongValue
                                    : VerdictStatus::kPassed;
    verdict.pass_call = attempt > 1;
    verdict.pass_exe = attempt > 2;
    verdict.summary = verdict.log = "about attempt " + std::to_string(attempt);
    if (attempt > 2) {
      verdict.timing.emplace();
      const double speedup = 1 + ((attempt * 7) % 5) * 0.125;
      verdict.timing->speedups.push_back({"label", speedup, speedup, speedup, "faster"});
    }
    done(std::move(judgement));
  }
  void Prepare(const TaskSpec& spec, Ready done) override {
    done(spec.op_name == "unfit" ? Status(InvalidInput("the label does not run")) : Status());
  }
  void Stop() override {}
  int judged = 0;
};

class NoWatcher : public Watcher {
 public:
  void Asked(const Line&, const std::string&) override {}
  void Answered(const Line&, const llm::Reply&) override {}
  void Judging(const Line&) override {}
  void Waiting(const Line&, const std::string&) override {}
  void Judged(const Line&) override {}
  void Prepared(const Case&) override {}
  void Ended(const IterationReport&) override {}
  void Idle() override {}
};

constexpr int kIterations = 6;

class World {
 public:
  World() : prompts(*llm::PromptLibrary::Open(fs, {})) {}

  static DataSet Data() {
    DataSet data;
    data.sha256 = "abc";
    for (const char* name : {"one", "unfit", "two"}) {
      Case one;
      one.name = std::string(name) + ".py";
      one.folder = one.spec.op_name = name;
      one.instruction = std::string("write ") + name;
      one.label = "import triton\ndef f(x): pass\n";
      one.test_code = "result_gold = f(1)";
      one.oneshot = one.label;
      one.spec.impl = Impl::kTriton;
      one.spec.arch = "x86_64";
      one.spec.task_desc = one.test_code;
      one.spec.label = one.label;
      data.cases.push_back(std::move(one));
    }
    return data;
  }

  static Rules SomeRules() {
    Rules rules;
    rules.descendants = 2;
    rules.population = 2;
    rules.reflect_limit = 1;
    return rules;
  }

  // One process, from its start to its end.
  Result<OptimizeReport> Run(
      int64_t iterations = kIterations,
      const std::function<bool()>& interrupted = [] { return false; }) {
    DataSet data = Data();
    Settings settings;
    settings.rules = SomeRules();
    Result<RunFiles> files = RunFiles::Resume(fs, "X");
    if (!files.ok() && files.error().code == ErrorCode::kNotFound) {
      files = RunFiles::Begin(fs, "X", settings);
    }
    if (!files.ok()) return files.error();
    const Prompter prompter(prompts, "a machine");
    KERF_ASSIGN_OR_RETURN(const auto recorder,
                          trace::Recorder::Open(fs, clock, ids, {.log_dir = TracePath("X")}));
    const LinePorts ports{fs, clock, *recorder, redactor, prompter, "counting", SomeRules()};
    conduct::Dispatcher dispatcher([&](const std::string&) -> llm::Provider& { return model; },
                                   judge);
    NoWatcher watcher;
    Optimizer optimizer(data, *files, ports, dispatcher, watcher);
    return optimizer.Run(
        iterations,
        [&](const std::string& op, const std::string& task) {
          return conduct::Playback::Read(fs, TracePath("X"), op, task, -1);
        },
        interrupted);
  }

  // All pairs as one text.
  std::string Pairs(int64_t iterations = kIterations) {
    std::string text;
    for (int64_t i = 0; i < iterations; ++i) {
      for (const std::string& path : {JsonlPath("X", i), MemPath("X", i)}) {
        const Result<std::string> read = fs.ReadFile(path);
        text += read.ok() ? *read : path + " is missing\n";
      }
    }
    return text;
  }

  FakeFileSystem fs;
  FakeClock clock;
  FakeIds ids;
  trace::Redactor redactor;
  llm::PromptLibrary prompts;
  CountingModel model;
  CountingJudge judge;
};

TEST(Optimizer, LeadsEveryCaseThroughItsIterations) {
  World world;
  const Result<OptimizeReport> report = world.Run();
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->last_iteration, kIterations - 1);
  ASSERT_EQ(report->cases.size(), 3U);
  EXPECT_TRUE(report->cases[0].solved);
  EXPECT_FALSE(report->cases[1].solved);
  EXPECT_EQ(report->cases[1].because, "not judged: the label does not run");
  EXPECT_EQ(report->cases[1].attempts, 0);
  // Two lines, six iterations. Attempt 2 would be the fastest, but is wrong; 4 is the next.
  EXPECT_EQ(report->cases[0].attempts, 12);
  EXPECT_EQ(*report->cases[0].speedup, 1.375);
  EXPECT_THAT(report->cases[0].code, HasSubstr("attempt 4"));
  // Nobody is asked about a case that cannot be judged. Codes that a case has had before are not
  // judged again: this model repeats itself as soon as the ancestors stay the same.
  EXPECT_EQ(world.model.total, 2 * (12 + 6));
  EXPECT_EQ(world.judge.judged, 2 * 10);
  EXPECT_THAT(world.Pairs(), Not(HasSubstr("missing")));
  EXPECT_THAT(*world.fs.ReadFile("X_mem_0.json"),
              HasSubstr(R"("unfit.py":{"call_err_msg":"kerf did not judge this case)"));
}

TEST(Optimizer, ASecondRunOfTheSameDoesNothing) {
  World world;
  ASSERT_TRUE(world.Run().ok());
  const std::string pairs = world.Pairs();
  const int asked = world.model.total;
  const int judged = world.judge.judged;
  const Result<OptimizeReport> again = world.Run();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->complete);
  EXPECT_TRUE(again->cases[0].solved);
  EXPECT_EQ(world.model.total, asked);
  EXPECT_EQ(world.judge.judged, judged);
  EXPECT_EQ(world.Pairs(), pairs);
}

TEST(Optimizer, MoreIterationsGoOnWhereItEnded) {
  World straight;
  ASSERT_TRUE(straight.Run().ok());
  World parts;
  for (int64_t i = 1; i <= kIterations; ++i) ASSERT_TRUE(parts.Run(i).ok());
  EXPECT_EQ(parts.Pairs(), straight.Pairs());
  EXPECT_EQ(parts.model.total, straight.model.total);
}

TEST(Optimizer, ComesToTheSameEndWhereverItIsKilled) {
  World straight;
  ASSERT_TRUE(straight.Run().ok());
  const std::string pairs = straight.Pairs();
  const int calls = straight.fs.mutating_calls();
  ASSERT_GT(calls, 100);
  for (const bool power : {false, true}) {
    for (int n = 1; n < calls; n += 7) {
      World world;
      world.fs.CrashAfter(n);
      (void)world.Run();
      if (power) {
        world.fs.Crash();
      } else {
        world.fs.Kill();
      }
      world.fs.ClearFaults();
      const Result<OptimizeReport> report = world.Run();
      ASSERT_TRUE(report.ok()) << "killed at " << n << ": " << report.error().message;
      ASSERT_EQ(world.Pairs(), pairs) << "killed at " << n;
      // Only what was on its way when the disk went may be asked for again: one answer of each of
      // the four lines.
      EXPECT_LE(world.model.total, straight.model.total + 4) << "killed at " << n;
      EXPECT_LE(world.model.MostOfOne(), straight.model.MostOfOne() + 1) << "killed at " << n;
      EXPECT_LE(world.judge.judged, straight.judge.judged + 4) << "killed at " << n;
    }
  }
}

TEST(Optimizer, AnEndpointThatIsGoneLeavesThePairOfWhatThereIs) {
  World straight;
  ASSERT_TRUE(straight.Run().ok());
  for (const int after : {1, 5, 9, 14, 23}) {
    World world;
    world.model.fail_after = after;
    const Result<OptimizeReport> report = world.Run();
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->complete);
    ASSERT_TRUE(report->error.has_value());
    EXPECT_EQ(report->because, "the endpoint is down");
    if (report->last_iteration >= 0) {
      EXPECT_TRUE(world.fs.ReadFile(MemPath("X", report->last_iteration)).ok());
    }
    world.model.fail_after = 0;
    ASSERT_TRUE(world.Run().ok());
    EXPECT_EQ(world.Pairs(), straight.Pairs()) << after;
  }
}

TEST(Optimizer, AnInterruptionKeepsWhatWasDone) {
  World straight;
  ASSERT_TRUE(straight.Run().ok());
  World world;
  int turns = 0;
  const Result<OptimizeReport> report = world.Run(kIterations, [&] { return ++turns > 30; });
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->complete);
  EXPECT_EQ(report->because, "interrupted");
  ASSERT_TRUE(world.Run().ok());
  EXPECT_EQ(world.Pairs(), straight.Pairs());
  EXPECT_EQ(world.model.total, straight.model.total);
}

TEST(Optimizer, TheTraceHasEveryAttempt) {
  World world;
  ASSERT_TRUE(world.Run().ok());
  const auto tasks = trace::ReadTasks(world.fs, TracePath("X"), "one", "0");
  ASSERT_TRUE(tasks.ok());
  int verdicts = 0;
  int reflections = 0;
  for (const Step& step : tasks->front().steps) {
    verdicts += step.kind == RecordKind::kVerifier ? 1 : 0;
    reflections += step.kind == RecordKind::kConductor ? 1 : 0;
    EXPECT_THAT(step.meta, HasSubstr("\"iteration\":"));
    EXPECT_THAT(step.meta, HasSubstr("\"mode\":"));
  }
  EXPECT_EQ(verdicts, kIterations);
  EXPECT_EQ(reflections, kIterations);
}

}  // namespace
}  // namespace kerf::optimize
