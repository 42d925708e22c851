#include "cli/render/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/subprocess.h"

namespace kerf::cli {
namespace {

std::vector<Verb> SampleVerbs() {
  const std::vector<Flag> flags = {
      {.name = "--log-dir", .value_name = "DIR", .help = "Where"},
      {.name = "--names", .value_name = "STYLE", .help = "How", .choices = {"value", "agent"}},
      {.name = "--config", .value_name = "FILE", .help = "What"},
      {.name = "--limit", .value_name = "N", .help = "Many"},
      JsonFlag()};
  return {{.name = "trace append", .summary = "", .details = "", .positionals = {}, .flags = flags},
          {.name = "trace ls",
           .summary = "",
           .details = "",
           .positionals = {{.name = "DIR", .help = ""}}},
          {.name = "completion",
           .summary = "",
           .details = "",
           .positionals = {{.name = "SHELL", .help = "", .choices = {"bash", "zsh"}}}},
          {.name = "help", .summary = "", .details = ""}};
}

class CompletionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "kerf-completion-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
    std::filesystem::create_directory(dir_ + "/sub dir");
    std::ofstream(dir_ + "/subfile") << "x";
    std::ofstream(dir_ + "/bash.sh") << BashCompletion(SampleVerbs());
    std::ofstream(dir_ + "/zsh.sh") << ZshCompletion(SampleVerbs());
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string Shell(const std::string& shell, const std::string& script) {
    const Result<ProcessOutcome> outcome =
        RunProcess({.argv = {shell, shell == "zsh" ? "-f" : "--norc", "-c", script}, .cwd = dir_});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    if (!outcome.ok()) return "";
    EXPECT_EQ(outcome->stderr_text, "");
    return outcome->stdout_text;
  }

  // What bash would offer for the words, the last of which is being typed. As bash calls it: with
  // the words broken at '='.
  std::string Bash(const std::string& words) {
    return Shell("bash", "source ./bash.sh; COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kerf; "
                             "IFS=,; echo \"${COMPREPLY[*]}\"");
  }

  std::string Zsh(const std::string& words) {
    return Shell("zsh",
                 "compadd() { shift; echo \"${(j:,:)@}\" }; _files() { echo \"files $*\" }; "
                 "source ./zsh.sh; words=(" +
                     words + "); CURRENT=${#words}; _kerf");
  }

  std::string dir_;
};

TEST_F(CompletionTest, BashCompletesVerbsAndSubVerbs) {
  EXPECT_EQ(Bash("kerf tra"), "trace\n");
  EXPECT_EQ(Bash("kerf ''"), "trace,completion,help\n");
  EXPECT_EQ(Bash("kerf trace ''"), "append,ls\n");
  EXPECT_EQ(Bash("kerf trace ap"), "append\n");
  EXPECT_EQ(Bash("kerf help ''"), "trace,completion,help\n");
  EXPECT_EQ(Bash("kerf help trace l"), "ls\n");
  EXPECT_EQ(Bash("kerf --"), "--help,--version\n");
}

TEST_F(CompletionTest, BashCompletesFlagsAndTheirValues) {
  EXPECT_EQ(Bash("kerf trace append --l"), "--log-dir,--limit\n");
  EXPECT_EQ(Bash("kerf trace append --json --nam"), "--names\n");
  EXPECT_EQ(Bash("kerf trace append --names ''"), "value,agent\n");
  EXPECT_EQ(Bash("kerf trace append --names = a"), "agent\n");
  EXPECT_EQ(Bash("kerf trace append --names ="), "value,agent\n");
  EXPECT_EQ(Bash("kerf trace append --limit ''"), "\n");
  EXPECT_EQ(Bash("kerf completion ''"), "bash,zsh\n");
}

TEST_F(CompletionTest, BashCompletesFilesAndDirectories) {
  EXPECT_EQ(Bash("kerf trace append --log-dir s"), "sub dir\n");
  EXPECT_EQ(Bash("kerf trace ls s"), "sub dir\n");
  const std::string files = Bash("kerf trace append --config s");
  EXPECT_TRUE(files == "sub dir,subfile\n" || files == "subfile,sub dir\n") << files;
}

TEST_F(CompletionTest, BashSurvivesUnknownVerbs) {
  EXPECT_EQ(Bash("kerf frobnicate ''"), "\n");
  EXPECT_EQ(Bash("kerf trace frobnicate --"), "\n");
}

TEST_F(CompletionTest, ZshCompletesTheSame) {
  if (!FindProgram("zsh", std::getenv("PATH"))) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(Zsh("kerf ''"), "trace,completion,help\n");
  EXPECT_EQ(Zsh("kerf trace ''"), "append,ls\n");
  EXPECT_EQ(Zsh("kerf trace append --"), "--help,--log-dir,--names,--config,--limit,--json\n");
  EXPECT_EQ(Zsh("kerf trace append --names ''"), "value,agent\n");
  EXPECT_EQ(Zsh("kerf trace append --log-dir ''"), "files -/\n");
  EXPECT_EQ(Zsh("kerf trace append --config ''"), "files \n");
  EXPECT_EQ(Zsh("kerf completion ''"), "bash,zsh\n");
}

TEST_F(CompletionTest, ZshRegistersItselfWhenSourcedAndRunsWhenAutoloaded) {
  if (!FindProgram("zsh", std::getenv("PATH"))) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(Shell("zsh", "compdef() { echo \"compdef $*\" }; source ./zsh.sh"),
            "compdef _kerf kerf\n");
  EXPECT_EQ(Shell("zsh",
                  "mkdir f; cp zsh.sh f/_kerf; fpath=(./f); autoload -U _kerf; "
                  "compadd() { shift; echo \"$*\" }; words=(kerf ''); CURRENT=2; _kerf"),
            "trace completion help\n");
}

}  // namespace
}  // namespace kerf::cli
