// `kerf task check`, with the built binary copied away from its checkout: what it needs it brings
// along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

const std::string kSource = KERF_SOURCE_DIR;

class TaskCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(dir_.path() + "/bin");
    binary_ = dir_.path() + "/bin/kerf";
    std::filesystem::copy_file(KERF_BINARY, binary_);
  }

  ProcessOutcome Check(const std::vector<std::string>& words) { return Task("check", words); }
  ProcessOutcome Task(const std::string& verb, std::vector<std::string> words) {
    words.insert(words.begin(), {binary_, "task", verb});
    std::string python = kSource + "/.venv/bin/python";
    if (const char* own = std::getenv("KERF_PYTHON")) python = own;
    const auto outcome = RunProcess(
        {.argv = words,
         .cwd = dir_.path(),
         .environment = {{"PATH=" + std::string(std::getenv("PATH")), "KERF_PYTHON=" + python,
                          "KERF_CACHE_DIR=" + dir_.path() + "/cache"}},
         .timeout = std::chrono::seconds(110)});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  TempDir dir_;
  std::string binary_;
};

TEST_F(TaskCheck, TellsThatAnExampleIsFit) {
  const ProcessOutcome first = Check({kSource + "/examples/tasks/relu_numpy.py", "--json"});
  if (first.exit_code == 3) GTEST_SKIP() << first.stderr_text;
  ASSERT_EQ(first.exit_code, 0) << first.stderr_text;
  const Json report = Json::parse(first.stdout_text);
  EXPECT_TRUE(report.at("fit").get<bool>());
  EXPECT_FALSE(report.at("cached").get<bool>());
  EXPECT_EQ(report.at("op_name"), "relu");
  EXPECT_EQ(report.at("outputs").size(), 3);
  const ProcessOutcome second = Check({kSource + "/examples/tasks/relu_numpy.py"});
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_THAT(second.stdout_text, HasSubstr("fit: relu (numpy"));
  EXPECT_THAT(second.stdout_text, HasSubstr("cached"));
}

TEST_F(TaskCheck, ExitsWithOneForAnUnfitTask) {
  const ProcessOutcome outcome = Check({kSource + "/test/data/tasks/constant_numpy.py"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.stdout_text, HasSubstr("unfit: output0 has the same value everywhere"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("not fit: constant"));
}

struct NullExample {
  const char* task;
  const char* names;  // of what would pass
};

class NullBaselines : public TaskCheck, public ::testing::WithParamInterface<NullExample> {};

TEST_P(NullBaselines, MakeATaskUnfit) {
  const ProcessOutcome outcome = Check({kSource + "/test/data/tasks/" + GetParam().task, "--json"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_FALSE(report.at("fit").get<bool>());
  std::string text;
  for (const Json& finding : report.at("findings")) {
    if (finding.at("finding") == "null_baseline") text = finding.at("message");
  }
  EXPECT_EQ(text, "a candidate that computes nothing would pass: " + std::string(GetParam().names));
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, NullBaselines,
    ::testing::Values(
        NullExample{"null_zeros_numpy.py",
                    "copy of another seed's output, first half only, mean, shifted, zeros"},
        NullExample{"null_ones_numpy.py", "copy of another seed's output, mean, ones, shifted"},
        NullExample{"null_copy_numpy.py", "copy of input0"},
        NullExample{"null_mean_numpy.py", "copy of another seed's output, mean, shifted"},
        NullExample{"null_stale_numpy.py", "copy of another seed's output"}),
    [](const auto& one) {
      const std::string task = one.param.task;
      return task.substr(0, task.find("_numpy"));
    });

TEST_F(TaskCheck, TakesATaskWithOneNumberForFit) {
  const ProcessOutcome outcome = Check({kSource + "/test/data/tasks/loss_numpy.py"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stdout_text;
}

TEST_F(TaskCheck, ExitsWithTwoForATaskThatCannotRun) {
  const ProcessOutcome outcome = Check({kSource + "/test/data/tasks/raises_numpy.py", "--json"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  EXPECT_EQ(outcome.exit_code, 2);
  const Json report = Json::parse(outcome.stdout_text);
  EXPECT_EQ(report.at("error").at("code"), "invalid_input");
  EXPECT_THAT(report.at("error").at("message").get<std::string>(), HasSubstr("line 8"));
}

TEST_F(TaskCheck, RefusesWhatIsNoTaskWithoutRunningIt) {
  EXPECT_EQ(Check({dir_.path() + "/missing.py"}).exit_code, 2);
  const ProcessOutcome outcome = Check({kSource + "/python/run_tests.py"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.stderr_text, HasSubstr("Missing required components in task_desc"));
  EXPECT_EQ(Check({kSource + "/examples/tasks/relu_numpy.py", "--seeds", "0"}).exit_code, 2);
}

using TaskGraph = TaskCheck;

TEST_F(TaskGraph, ShowsOperationsWithTheirLines) {
  const ProcessOutcome outcome = Task("graph", {kSource + "/examples/tasks/softmax_torch.py"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("aten._softmax.default"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("torch.softmax(x"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("returns %1"));
}

TEST_F(TaskGraph, PrintsTheDocumentItself) {
  const ProcessOutcome outcome =
      Task("graph", {kSource + "/examples/tasks/relu_numpy.py", "--json"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const Json graph = Json::parse(outcome.stdout_text);
  EXPECT_EQ(graph.at("format"), "kerf.graph");
  EXPECT_EQ(graph.at("capture"), "numpy");
}

TEST_F(TaskGraph, ExitsWithOneWhenATaskCannotBeCaptured) {
  const ProcessOutcome outcome =
      Task("graph", {kSource + "/test/data/tasks/random_output_numpy.py"});
  if (outcome.exit_code == 3) GTEST_SKIP() << outcome.stderr_text;
  EXPECT_EQ(outcome.exit_code, 1) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("not captured: random numbers (line "));
}

}  // namespace
}  // namespace kerf::e2e
