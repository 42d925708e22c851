// Statistics, lines, files and the two renderings of a fixed report. With KERF_UPDATE_GOLDENS=1 the
// program rewrites test/golden/bench.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/fake_file_system.h"
#include "cli/bench/bench_files.h"
#include "cli/bench/bench_result.h"
#include "cli/fake_output.h"
#include "cli/render/bench_text.h"
#include "cli/verb.h"

namespace kerf::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

BenchTask Task(const std::string& name, const std::string& family, BenchOutcome outcome) {
  BenchTask task;
  task.name = name;
  task.path = "level1/" + name + ".py";
  task.op_name = name;
  task.task_id = "0";
  task.framework = "torch";
  task.file_sha256 = "00" + name;
  task.family = family;
  task.outcome = outcome;
  return task;
}

BenchTask Measured(const std::string& name, const std::string& family, double eager,
                   double compiled, double light) {
  BenchTask task = Task(name, family, BenchOutcome::kCorrect);
  const auto verdict = [](double x) {
    return x > 1.05 ? "faster" : x < 0.95 ? "slower" : "parity";
  };
  task.status = "passed";
  task.speedups = {{kEager, eager, eager * 0.875, eager * 1.125, verdict(eager)},
                   {kCompiled, compiled, compiled * 0.875, compiled * 1.125, verdict(compiled)}};
  task.candidate_ns = 1250000;
  task.share_of_light = light;
  task.verify_dir = name + "/verify";
  task.framework_version = "2.13.0";
  task.python = "3.11.2";
  task.compiler = "g++ 12.2.0";
  task.steps = 3;
  task.seconds = 7.5;
  return task;
}

BenchReport Fixed() {
  BenchReport report;
  report.kerf = "kerf 0.1.0";
  report.date = "2026-01-01T00:00:00.000000Z";
  report.machine = "Test CPU, 2 processors";
  report.log_dir = "logs/Bench_1";
  report.settings = {"cpp", "cpu", "x86_64", "synth", 3, 1 << 26, 0};
  report.threads = 2;
  report.jobs = 1;
  report.tasks = {Measured("1_Square", "matmul", 0.5, 0.5, 0.25),
                  Measured("19_ReLU", "pointwise", 2, 1, 0.75),
                  Measured("20_GELU", "pointwise", 8, 4, 0.5)};
  report.tasks[1].sizes = task::ShrinkReport{{{"N", 7, 4096, 1024}}, 1 << 29, 1 << 25, 0, 0};
  BenchTask refused = Task("30_Sampler", "", BenchOutcome::kRefused);
  refused.status = "refused";
  refused.refusal = BenchRefusal{"aten.grid_sampler_2d.default", 12, "return sample(x) < \"&\"",
                                 "kerf's synthesizer does not know this operator"};
  BenchTask wrong = Task("40_Sum", "reduction", BenchOutcome::kWrong);
  wrong.status = "wrong_value";
  wrong.reason = "value";
  wrong.summary = "output0: 3 of 8 elements are wrong";
  report.tasks.push_back(refused);
  report.tasks.push_back(wrong);
  return report;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(KERF_GOLDENS) + "/" + name;
  if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << name << " differs; KERF_UPDATE_GOLDENS=1 rewrites it";
}

TEST(BenchReport, IsThisText) { ExpectGolden("report.txt", BenchText(Fixed(), FakeOutput())); }
TEST(BenchReport, IsThisJson) { ExpectGolden("report.json", BenchJson(Fixed())); }
TEST(BenchReport, IsThisPage) { ExpectGolden("report.html", BenchHtml(Fixed())); }

TEST(BenchReport, ThePageNeedsNothingFromElsewhere) {
  const std::string page = BenchHtml(Fixed());
  for (const char* outside : {"http", "<script", "src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(page, HasSubstr("&lt; &quot;&amp;&quot;"));
}

TEST(BenchReport, PutsWrongOnesFirst) {
  const BenchReport report = Fixed();
  std::vector<std::string> names;
  for (const BenchTask* task : WrongFirst(report)) names.push_back(task->name);
  EXPECT_THAT(names, ElementsAre("40_Sum", "30_Sampler", "1_Square", "19_ReLU", "20_GELU"));
}

TEST(BenchReport, CannotBeBrokenByAnEmptyTable) {
  BenchReport report;
  EXPECT_THAT(BenchHtml(report), HasSubstr("Nothing was measured"));
  EXPECT_THAT(BenchText(report, FakeOutput()), HasSubstr("0 of 0 correct"));
}

TEST(BenchStats, MediansAndGeomeans) {
  const BenchRatios even = MakeRatios({8, 0.5, 2, 4});
  EXPECT_EQ(even.measured, 4);
  EXPECT_DOUBLE_EQ(even.median, 3);
  EXPECT_NEAR(even.geomean, 2.3784142300054421, 1e-12);
  EXPECT_DOUBLE_EQ(MakeRatios({3, 1, 2}).median, 2);
  EXPECT_EQ(MakeRatios({}).measured, 0);
}

TEST(BenchStats, CountsOnlyCorrectOnes) {
  BenchReport report = Fixed();
  report.tasks[2].outcome = BenchOutcome::kWrong;
  const BenchGroup total = Total(report);
  EXPECT_EQ(total.tasks, 5);
  EXPECT_EQ(total.Count(BenchOutcome::kWrong), 2);
  EXPECT_EQ(total.eager.measured, 2);
  EXPECT_DOUBLE_EQ(total.eager.geomean, 1);
  EXPECT_EQ(total.eager.faster, 1);
}

TEST(BenchStats, ExitCodes) {
  BenchReport report = Fixed();
  EXPECT_EQ(BenchExitCode(report), kExitNegative);
  report.tasks.resize(3);
  EXPECT_EQ(BenchExitCode(report), kExitDone);
  report.not_run = 1;
  EXPECT_EQ(BenchExitCode(report), kExitInterrupted);
}

TEST(BenchLines, AreReadBackTheSame) {
  const BenchReport report = Fixed();
  for (const BenchTask& task : report.tasks) {
    const std::string line = BenchTaskJson(task, report.settings);
    const auto read = ParseBenchLine(line);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->settings, report.settings);
    EXPECT_EQ(BenchTaskJson(read->task, read->settings), line);
  }
  EXPECT_EQ(ParseBenchLine("{}").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ParseBenchLine("[1").error().code, ErrorCode::kCorrupt);
}

TEST(BenchLines, TakeSpeedupsFromAVerdict) {
  BenchTask task;
  const Status taken = TakeVerdict(
      R"({"task": {"framework_version": "2.13", "python": "3.11"}, "build": {"compiler": "g++"},
          "status": "passed", "timing": {"sides": [{"name": "candidate", "median_ns": 8.0}], "share_of_light": 0.5,
                     "speedups": [{"baseline": "eager", "speedup": 2.0, "low": 1.5, "high": 2.5,
                                   "verdict": "faster"}]}})",
      task);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  task.outcome = BenchOutcome::kCorrect;
  EXPECT_EQ(task.Speedup(kEager), 2.0);
  EXPECT_EQ(task.Speedup(kCompiled), std::nullopt);
  EXPECT_EQ(task.candidate_ns, 8);
  EXPECT_EQ(TakeVerdict("{}", task).error().code, ErrorCode::kCorrupt);
}

TEST(BenchLines, TakeNoSpeedupsFromANoisyMachine) {
  BenchTask task;
  const Status taken = TakeVerdict(
      R"({"task": {"framework_version": "2.13", "python": "3.11"}, "build": {"compiler": "g++"},
          "status": "suspicious", "reason": "unstable", "summary": "too noisy",
          "timing": {"sides": [], "share_of_light": 0.5,
                     "speedups": [{"baseline": "eager", "speedup": 2.0, "low": 1.5, "high": 2.5,
                                   "verdict": "faster"}]}})",
      task);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  task.outcome = BenchOutcome::kCorrect;
  EXPECT_EQ(task.Speedup(kEager), std::nullopt);
  EXPECT_EQ(task.reason, "unstable");
  EXPECT_EQ(task.summary, "not measured: too noisy");
}

class BenchFilesTest : public ::testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(fs_.CreateDirs(ParentPath(path)).ok());
    ASSERT_TRUE((*fs_.OpenNew(path))->Write(text).ok());
  }
  FakeFileSystem fs_;
};

TEST_F(BenchFilesTest, SortsNumbersAsNumbersAndLeavesHelpersOut) {
  for (const char* name : {"10_b.py", "2_a.py", "100_c.py"}) {
    Put(std::string("kb/level1/") + name, "class Model: pass");
  }
  Put("kb/level1/helpers.py", "x = 1");
  Put("kb/level1/.hidden/3_d.py", "class Model: pass");
  Put("kb/level2/2_a.py", "class Model: pass");
  const auto files = FindBenchFiles(fs_, {"kb"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  std::vector<std::string> names;
  for (const BenchFile& file : *files) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("level1/2_a", "10_b", "100_c", "level2/2_a"));
  EXPECT_EQ(FindBenchFiles(fs_, {"nowhere"}).error().code, ErrorCode::kNotFound);
}

TEST(NaturalLess, IsAnOrder) {
  const std::vector<std::string> sorted = {"",     "1",    "01_a", "1_a", "2_a",
                                           "10_a", "10_b", "a",    "a1"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_FALSE(NaturalLess(sorted[i], sorted[i])) << sorted[i];
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      EXPECT_TRUE(NaturalLess(sorted[i], sorted[j])) << sorted[i] << " " << sorted[j];
      EXPECT_FALSE(NaturalLess(sorted[j], sorted[i])) << sorted[j] << " " << sorted[i];
    }
  }
}

TEST_F(BenchFilesTest, ATornLineCountsForNothing) {
  const BenchReport report = Fixed();
  Put("logs/bench.jsonl", BenchTaskJson(report.tasks[0], report.settings) + "\n{\"name\": \"to");
  BenchStore store(fs_, "logs");
  EXPECT_EQ(store.Read(report.settings)->size(), 1);
  ASSERT_TRUE(store.Add(report.tasks[1], report.settings).ok());
  EXPECT_EQ(store.Read(report.settings)->size(), 2);
}

TEST_F(BenchFilesTest, RefusesLinesOfOtherSettings) {
  const BenchReport report = Fixed();
  BenchStore store(fs_, "logs");
  ASSERT_TRUE(store.Add(report.tasks[0], report.settings).ok());
  BenchSettings other = report.settings;
  other.max_bytes = 1;
  EXPECT_THAT(store.Read(other).error().message, HasSubstr("logs/bench.jsonl:1: made with other"));
}

}  // namespace
}  // namespace kerf::cli
