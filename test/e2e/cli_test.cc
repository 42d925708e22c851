// The built binary, as a shell sees it. KERF_BINARY comes from CMake.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/subprocess.h"

namespace kerf {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

ProcessOutcome Run(std::vector<std::string> argv) {
  const Result<ProcessOutcome> outcome =
      RunProcess({.argv = std::move(argv), .timeout = std::chrono::seconds(30)});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : ProcessOutcome{};
}

ProcessOutcome Kerf(std::vector<std::string> words) {
  words.insert(words.begin(), KERF_BINARY);
  return Run(std::move(words));
}

ProcessOutcome Bash(const std::string& script) {
  return Run({"bash", "--norc", "-c", "kerf() { " KERF_BINARY " \"$@\"; }; " + script});
}

bool HasProgram(const std::string& name) {
  return FindProgram(name, std::getenv("PATH")).has_value();
}

TEST(Cli, VersionIsOneLine) {
  const ProcessOutcome outcome = Kerf({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.stdout_text, MatchesRegex("kerf [0-9]+\\.[0-9]+\\.[0-9]+ \\(.*\\)\n"));
  EXPECT_EQ(outcome.stderr_text, "");
}

TEST(Cli, VersionAsJson) {
  const ProcessOutcome outcome = Kerf({"version", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  const Json json = Json::parse(outcome.stdout_text);
  EXPECT_THAT(json.at("version").get<std::string>(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_TRUE(json.contains("revision"));
  EXPECT_FALSE(json.at("compiler").get<std::string>().empty());
  EXPECT_FALSE(json.at("build_type").get<std::string>().empty());
}

TEST(Cli, HelpIsOneScreen) {
  const ProcessOutcome outcome = Kerf({"help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.stdout_text, Kerf({}).stdout_text);
  EXPECT_EQ(outcome.stdout_text, Kerf({"-h"}).stdout_text);
  const std::string& text = outcome.stdout_text;
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 52);
  EXPECT_THAT(text, HasSubstr("doctor"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\x1b")));
}

TEST(Cli, HelpOfAVerbInBothSpellings) {
  const ProcessOutcome outcome = Kerf({"help", "doctor"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.stdout_text, HasSubstr("kerf doctor [--json]"));
  EXPECT_EQ(outcome.stdout_text, Kerf({"doctor", "--help"}).stdout_text);
  EXPECT_EQ(outcome.stdout_text, Kerf({"doctor", "-h"}).stdout_text);
  EXPECT_EQ(Kerf({"help", "frobnicate"}).exit_code, 2);
}

TEST(Cli, MistakesGetSuggestionsAndExitCode2) {
  const ProcessOutcome verb = Kerf({"docter"});
  EXPECT_EQ(verb.exit_code, 2);
  EXPECT_EQ(verb.stdout_text, "");
  EXPECT_EQ(verb.stderr_text, "kerf: unknown verb 'docter'; did you mean 'kerf doctor'?\n");
  const ProcessOutcome flag = Kerf({"version", "--jsno"});
  EXPECT_EQ(flag.exit_code, 2);
  EXPECT_EQ(flag.stderr_text,
            "kerf: unknown flag --jsno for 'kerf version'; did you mean --json?\n");
  const ProcessOutcome extra = Kerf({"version", "please"});
  EXPECT_EQ(extra.exit_code, 2);
  EXPECT_THAT(extra.stderr_text, StartsWith("kerf: unexpected argument 'please'"));
  EXPECT_EQ(Kerf({"completion"}).exit_code, 2);
}

TEST(Cli, HostileWordsAreDisarmedInErrors) {
  const ProcessOutcome outcome = Kerf({"\x1b[2J\nsecond line"});
  EXPECT_EQ(outcome.stderr_text,
            "kerf: unknown verb '\\x1b[2J\\nsecond line'; 'kerf help' lists the verbs\n");
}

TEST(Cli, ErrorsAreJsonWhenAskedFor) {
  const ProcessOutcome outcome = Kerf({"version", "--json", "--frobnicate"});
  EXPECT_EQ(outcome.exit_code, 2);
  const Json json = Json::parse(outcome.stdout_text);
  EXPECT_EQ(json.at("ok"), false);
  EXPECT_EQ(json.at("error").at("code"), "invalid_input");
  EXPECT_EQ("kerf: " + json.at("error").at("message").get<std::string>() + "\n",
            outcome.stderr_text);
}

TEST(Cli, AFullDiskIsReported) {
  const ProcessOutcome outcome = Bash("kerf version > /dev/full");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.stderr_text,
              HasSubstr("cannot write to standard output: No space left on device"));
}

TEST(Cli, AClosedStdoutIsReported) {
  const ProcessOutcome outcome = Bash("kerf version >&-");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.stderr_text, StartsWith("kerf: cannot write to standard output"));
}

TEST(Cli, AClosedPipeEndsItQuietly) {
  const ProcessOutcome outcome = Bash("kerf man | true; sleep 0.1; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(outcome.stderr_text, "");
  // Deterministic: the reader is gone before kerf writes.
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  ::close(fds[0]);
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    ::dup2(fds[1], 1);
    ::execl(KERF_BINARY, "kerf", "version", nullptr);
    ::_exit(127);
  }
  ::close(fds[1]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGPIPE);
}

// A shell reports 128 + 2 = 130 for a program that SIGINT ended.
TEST(Cli, InterruptEndsItBySignal) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  // A full pipe holds kerf in its write for as long as the test needs.
  ::fcntl(fds[1], F_SETFL, O_NONBLOCK);
  while (::write(fds[1], "xxxxxxxx", 8) > 0) {
  }
  ::fcntl(fds[1], F_SETFL, 0);
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    std::signal(SIGINT, SIG_DFL);
    ::dup2(fds[1], 1);
    ::execl(KERF_BINARY, "kerf", "version", nullptr);
    ::_exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(pid, SIGINT);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(fds[0]);
  ::close(fds[1]);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Cli, DoctorAnswersInTwoSeconds) {
  const ProcessOutcome outcome = Kerf({"doctor", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stdout_text << outcome.stderr_text;
  EXPECT_EQ(outcome.stderr_text, "");
  const Json json = Json::parse(outcome.stdout_text);
  EXPECT_EQ(json.at("ok"), true);
  EXPECT_GE(json.at("items").size(), 20U);
  for (const Json& item : json.at("items")) {
    EXPECT_THAT(item.at("status").get<std::string>(), ::testing::AnyOf("ok", "missing", "limited"));
    for (const char* key : {"name", "detail", "enables", "install"})
      EXPECT_TRUE(item.at(key).is_string());
  }
#ifndef KERF_SLOW_BUILD
  EXPECT_LT(outcome.wall_time, std::chrono::seconds(2));
#endif
}

TEST(Cli, DoctorFailsWhereKerfCannotRun) {
  const ProcessOutcome outcome = Bash("TMPDIR=/nowhere kerf doctor");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.stdout_text, HasSubstr("kerf cannot run here"));
}

TEST(Cli, DoctorShowsNoSecret) {
  const ProcessOutcome outcome =
      Bash("OPENAI_API_KEY=sk-hidden kerf doctor; OPENAI_API_KEY=sk-hidden kerf doctor --json");
  EXPECT_THAT(outcome.stdout_text, HasSubstr("OPENAI_API_KEY set"));
  EXPECT_THAT(outcome.stdout_text + outcome.stderr_text, ::testing::Not(HasSubstr("sk-hidden")));
}

TEST(Cli, CompletionWorksInBash) {
  const ProcessOutcome outcome = Bash(
      "source <(kerf completion bash); COMP_WORDS=(kerf doc); COMP_CWORD=1; _kerf; echo "
      "\"${COMPREPLY[@]}\"; "
      "COMP_WORDS=(kerf version --j); COMP_CWORD=2; _kerf; echo \"${COMPREPLY[@]}\"; complete -p "
      "kerf");
  EXPECT_EQ(outcome.stderr_text, "");
  EXPECT_EQ(outcome.stdout_text, "doctor\n--json\ncomplete -F _kerf kerf\n");
}

TEST(Cli, CompletionIsValidZsh) {
  if (!HasProgram("zsh")) GTEST_SKIP() << "zsh is not installed";
  const ProcessOutcome outcome = Bash("kerf completion zsh | zsh -f -n /dev/stdin");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.stderr_text, "");
}

TEST(Cli, ManPageHasNoWarnings) {
  if (!HasProgram("man") || !HasProgram("groff")) GTEST_SKIP() << "man or groff is not installed";
  const ProcessOutcome outcome = Bash("kerf man | MANWIDTH=100 LC_ALL=C.UTF-8 man --warnings -l -");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.stderr_text, "");
  EXPECT_THAT(outcome.stdout_text, HasSubstr("kerf doctor"));
}

TEST(Cli, StartsQuickly) {
#ifdef KERF_SLOW_BUILD
  GTEST_SKIP() << "a sanitizer build starts slowly";
#endif
  // The best of many: other work on the machine only ever makes it slower.
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) best = std::min(best, Kerf({"--version"}).wall_time);
  EXPECT_LT(best, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace kerf
