#include "loop/task/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "loop/task/reference_maker.h"

namespace kerf::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A machine whose interpreters are empty files; what they answer is a table.
class InterpreterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kerf-interpreter-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Add(const std::string& path, const std::string& framework,
                  const std::string& version) {
    std::string full = root_ + "/" + path;
    std::filesystem::create_directories(ParentPath(full));
    std::ofstream(full) << "";
    ::chmod(full.c_str(), 0755);
    answers_[full] = R"({"python": "3.11.2", "prefix": "/v", "base_prefix": "/usr", )"
                     R"("executable": "/v/bin/python", "real_executable": ")" +
                     full + R"(", "version": ")" + version + R"(", "problem": ")" +
                     (version.empty() ? "no " + framework : "") + R"(", "paths": [")" + root_ +
                     R"(/site"], "read": ["/opt/a", "/opt/a/b", "/usr/lib/x", "/opt/ab"]})";
    return full;
  }

  InterpreterSearch Search(const std::map<std::string, std::string>& variables = {}) {
    InterpreterSearch search{
        .fs = *fs_, .cache_dir = root_ + "/cache", .cwd = root_ + "/project/deep"};
    search.variable = [variables](const std::string& name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      if (it == variables.end()) return std::nullopt;
      return it->second;
    };
    search.run = [this](const Command& command) -> Result<ProcessOutcome> {
      asked_.push_back(command.argv[0]);
      const auto it = answers_.find(command.argv[0]);
      if (it == answers_.end()) return ProcessOutcome{.exit_code = 1};
      return ProcessOutcome{.exit_code = 0,
                            .stdout_text = "noise\nkerf-probe:" + it->second + "\n"};
    };
    return search;
  }

  const std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  std::string root_;
  std::map<std::string, std::string> answers_;
  std::vector<std::string> asked_;
};

TEST_F(InterpreterTest, AsksInTheDocumentedOrder) {
  const std::string own = Add("own/python", "torch", "1");
  const std::string venv = Add("project/.venv/bin/python", "torch", "1");
  const std::string second = Add("project/.venv-mindspore/bin/python", "torch", "1");
  const std::string built = Add("checkout/.venv/bin/python", "torch", "1");
  const std::string path = Add("bin/python3", "torch", "1");
  InterpreterSearch search =
      Search({{"KERF_PYTHON", own}, {"PATH", root_ + "/bin:relative:" + root_}});
  search.binary_dir = root_ + "/checkout/build/release";
  std::vector<std::string> candidates = InterpreterCandidates(search);
  if (!candidates.empty() && candidates.back() == "/usr/bin/python3") candidates.pop_back();
  EXPECT_THAT(candidates, ElementsAre(own, venv, second, built, path));
}

TEST_F(InterpreterTest, TakesTheFirstThatHasTheFramework) {
  Add("project/.venv/bin/python", "torch", "");
  const std::string second = Add("bin/python3", "torch", "2.13.0");
  const auto found = FindInterpreter(Search({{"PATH", root_ + "/bin"}}), Framework::kTorch);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->path, second);
  EXPECT_EQ(found->framework_version, "2.13.0");
}

TEST_F(InterpreterTest, LetsInNoPathTwiceAndNoneOfTheDistribution) {
  const std::string only = Add("bin/python3", "numpy", "2.2");
  const auto found = FindInterpreter(Search({{"KERF_PYTHON", only}}), Framework::kNumpy);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->read_paths, ElementsAre("/opt/a", "/opt/ab"));
}

TEST_F(InterpreterTest, NamesWhatItTriedAndHowToInstall) {
  const std::string first = Add("bin/python3", "torch", "");
  InterpreterSearch search = Search({{"PATH", root_ + "/bin"}, {"KERF_PYTHON", "/nowhere/python"}});
  const auto found = FindInterpreter(search, Framework::kTorch);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(found.error().message, HasSubstr(first + " (3.11.2, no torch)"));
  EXPECT_THAT(found.error().message, HasSubstr("pip install torch"));
  EXPECT_THAT(found.error().message, HasSubstr("KERF_PYTHON is '/nowhere/python'"));
}

TEST_F(InterpreterTest, AsksAgainOnlyWhenSomethingChanged) {
  const std::string only = Add("bin/python3", "numpy", "2.2");
  std::filesystem::create_directories(root_ + "/site");
  const InterpreterSearch search = Search({{"KERF_PYTHON", only}});
  ASSERT_TRUE(FindInterpreter(search, Framework::kNumpy).ok());
  ASSERT_TRUE(FindInterpreter(search, Framework::kNumpy).ok());
  EXPECT_EQ(asked_.size(), 1);
  std::ofstream(root_ + "/site/new_package") << "";
  ASSERT_TRUE(FindInterpreter(search, Framework::kNumpy).ok());
  EXPECT_EQ(asked_.size(), 2);
  ::chmod(only.c_str(), 0755);
  std::filesystem::last_write_time(only, std::filesystem::file_time_type::clock::now());
  ASSERT_TRUE(FindInterpreter(search, Framework::kNumpy).ok());
  EXPECT_EQ(asked_.size(), 3);
}

TEST_F(InterpreterTest, AsksAgainWhenTheKeptAnswerIsDamaged) {
  const std::string only = Add("bin/python3", "numpy", "2.2");
  const InterpreterSearch search = Search({{"KERF_PYTHON", only}});
  ASSERT_TRUE(FindInterpreter(search, Framework::kNumpy).ok());
  for (const auto& file : std::filesystem::directory_iterator(root_ + "/cache/interpreters")) {
    std::ofstream(file.path()) << "half";
  }
  ASSERT_TRUE(FindInterpreter(search, Framework::kNumpy).ok());
  EXPECT_EQ(asked_.size(), 2);
}

bool Reads(const PythonView& view, const std::string& inside) {
  for (const sandbox::Bind& bind : view.policy.read_only()) {
    if (bind.inside == inside) return true;
  }
  return false;
}

TEST(PythonView, MovesAnEnvironmentThatTheSandboxWouldCover) {
  Interpreter interpreter{.executable = "/w/project/.venv/bin/python",
                          .real_executable = "/usr/bin/python3.11",
                          .prefix = "/w/project/.venv",
                          .base_prefix = "/usr"};
  const auto view = MakePythonView(interpreter, 2, /*namespaces=*/true);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->python, "/kerf/host/w/project/.venv/bin/python");
  ASSERT_TRUE(view->policy.Check().ok()) << view->policy.Check().error().message;
  EXPECT_EQ(view->policy.links().back().target, "/usr/bin/python3.11");
  EXPECT_EQ(MakePythonView(interpreter, 2, /*namespaces=*/false)->python, interpreter.executable);
}

TEST(PythonView, RefusesAnInstallationThatCannotBeMoved) {
  const Interpreter interpreter{.executable = "/tmp/p/bin/python",
                                .real_executable = "/tmp/p/bin/python",
                                .prefix = "/tmp/p",
                                .base_prefix = "/tmp/p"};
  EXPECT_EQ(MakePythonView(interpreter, 1, true).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(MakePythonView(interpreter, 1, false).ok());
}

TEST(PythonView, TellsThreadsAndHidesTheUsersPackages) {
  const Interpreter interpreter{.executable = "/usr/bin/python3",
                                .real_executable = "/usr/bin/python3.11",
                                .prefix = "/usr",
                                .base_prefix = "/usr",
                                .read_paths = {"/etc"}};
  const auto view = MakePythonView(interpreter, 3, true);
  EXPECT_EQ(view->policy.environment().at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(view->policy.environment().at("PYTHONNOUSERSITE"), "1");
  EXPECT_TRUE(Reads(*view, "/usr"));
}

}  // namespace
}  // namespace kerf::task
