#include "base/subprocess.h"

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace kerf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Command Shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

ProcessOutcome MustRun(const Command& command) {
  Result<ProcessOutcome> outcome = RunProcess(command);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : ProcessOutcome{};
}

int OpenDescriptors() {
  DIR* dir = ::opendir("/proc/self/fd");
  int count = 0;
  while (::readdir(dir) != nullptr) ++count;
  ::closedir(dir);
  return count;
}

bool IsAlive(pid_t pid) { return ::kill(pid, 0) == 0; }

// Processes are killed asynchronously, and orphans wait for init to reap them.
bool DiesSoon(pid_t pid) {
  for (int i = 0; i < 200 && IsAlive(pid); ++i) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    stat >> number >> name >> state;
    if (state == "Z" || state == "X") return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return !IsAlive(pid);
}

TEST(Subprocess, ReportsExitCodeAndBothOutputs) {
  const ProcessOutcome outcome = MustRun(Shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.stdout_text, "out\n");
  EXPECT_EQ(outcome.stderr_text, "err\n");
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_FALSE(outcome.stdout_truncated);
  EXPECT_GT(outcome.wall_time.count(), 0);
}

TEST(Subprocess, ReportsTheSignalThatEndedTheChild) {
  const ProcessOutcome outcome = MustRun(Shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(outcome.exit_code, -1);
  EXPECT_FALSE(outcome.timed_out);
}

TEST(Subprocess, PassesArgumentsWithoutAShell) {
  const ProcessOutcome outcome = MustRun({.argv = {"printf", "%s|", "a b", "$HOME", "", "*"}});
  EXPECT_EQ(outcome.stdout_text, "a b|$HOME||*|");
}

TEST(Subprocess, TerminatesAtTheTimeout) {
  Command command = Shell("sleep 100");
  command.timeout = milliseconds(100);
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGTERM);
  EXPECT_LT(outcome.wall_time, seconds(5));
}

TEST(Subprocess, KillsAChildThatIgnoresTerm) {
  Command command = Shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  command.timeout = milliseconds(300);
  command.grace = milliseconds(100);
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_EQ(outcome.stdout_text, "ready\n");
  EXPECT_LT(outcome.wall_time, seconds(5));
}

TEST(Subprocess, LetsAChildCleanUpOnTerm) {
  Command command = Shell("trap 'echo bye; exit 9' TERM; while :; do sleep 0.01; done");
  command.timeout = milliseconds(200);
  command.grace = seconds(5);
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_EQ(outcome.stdout_text, "bye\n");
}

TEST(Subprocess, StopsTheWholeGroupWhenAsked) {
  std::string pattern = ::testing::TempDir() + "kerf_stop_XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::string file = pattern + "/pid";
  Command command = Shell("sleep 300 & echo $! > " + file + "; wait");
  command.stop = [&] {
    pid_t pid = 0;
    return static_cast<bool>(std::ifstream(file) >> pid);
  };
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_LT(outcome.wall_time, seconds(60));
  pid_t grandchild = 0;
  std::ifstream(file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(DiesSoon(grandchild));
  ::unlink(file.c_str());
  ::rmdir(pattern.c_str());
}

TEST(Subprocess, IsNotStoppedWhenItEndsByItself) {
  Command command = Shell("exit 3");
  command.stop = [] { return false; };
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(outcome.exit_code, 3);
}

TEST(Subprocess, TimesOutAChildThatPrintsForEver) {
  Command command{.argv = {"yes"}, .stdout_limit = 1000, .timeout = milliseconds(200)};
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_TRUE(outcome.stdout_truncated);
  EXPECT_EQ(outcome.stdout_text.size(), 1000U);
  EXPECT_LT(outcome.wall_time, seconds(5));
}

TEST(Subprocess, ReadsMuchOutputOnBothPipes) {
  const ProcessOutcome outcome = MustRun(Shell(
      "head -c 900000 /dev/zero | tr '\\0' e >&2 & head -c 5000000 /dev/zero | tr '\\0' o; wait"));
  EXPECT_EQ(outcome.stdout_text, std::string(5000000, 'o'));
  EXPECT_EQ(outcome.stderr_text, std::string(900000, 'e'));
  EXPECT_FALSE(outcome.stdout_truncated);
  EXPECT_FALSE(outcome.stderr_truncated);
}

TEST(Subprocess, DropsWhatIsBeyondTheLimitAndSaysSo) {
  Command command = Shell("head -c 3000000 /dev/zero | tr '\\0' o; printf 12345 >&2; exit 3");
  command.stdout_limit = 10;
  command.stderr_limit = 5;
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.stdout_text, "oooooooooo");
  EXPECT_TRUE(outcome.stdout_truncated);
  EXPECT_EQ(outcome.stderr_text, "12345");
  EXPECT_FALSE(outcome.stderr_truncated);
}

TEST(Subprocess, FeedsMuchInput) {
  Command command{.argv = {"cat"}, .input = std::string(8'000'000, 'x')};
  command.input += "end";
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.stdout_text == command.input);
}

TEST(Subprocess, GivesAnEmptyStdinByDefault) {
  EXPECT_EQ(MustRun({.argv = {"cat"}, .timeout = seconds(10)}).exit_code, 0);
}

TEST(Subprocess, SurvivesAChildThatClosesItsStdin) {
  // SIGPIPE at its default would end this test program.
  struct sigaction before {};
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &by_default, &before);
  Command command = Shell("exec <&-; sleep 0.2; echo done");
  command.input = std::string(1'000'000, 'x');
  const ProcessOutcome outcome = MustRun(command);
  ::sigaction(SIGPIPE, &before, nullptr);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.stdout_text, "done\n");
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(Subprocess, NamesAMissingProgram) {
  const Result<ProcessOutcome> in_path = RunProcess({.argv = {"kerf-no-such-program"}});
  ASSERT_FALSE(in_path.ok());
  EXPECT_EQ(in_path.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(in_path.error().message, HasSubstr("kerf-no-such-program"));
  const Result<ProcessOutcome> by_path = RunProcess({.argv = {"/nowhere/program"}});
  ASSERT_FALSE(by_path.ok());
  EXPECT_EQ(by_path.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(by_path.error().message, HasSubstr("/nowhere/program"));
}

TEST(Subprocess, NamesAProgramThatMayNotRun) {
  const Result<ProcessOutcome> outcome = RunProcess({.argv = {"/etc/passwd"}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kDenied);
  EXPECT_THAT(outcome.error().message, HasSubstr("/etc/passwd"));
}

TEST(Subprocess, RefusesAnEmptyCommandAndNulBytes) {
  EXPECT_EQ(RunProcess({.argv = {}}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(RunProcess({.argv = {""}}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(RunProcess({.argv = {"echo", std::string("a\0b", 3)}}).error().code,
            ErrorCode::kInvalidInput);
}

TEST(Subprocess, PassesExactlyTheEnvironmentGiven) {
  const ProcessOutcome outcome =
      MustRun({.argv = {"env"}, .environment = {{"PATH=/usr/bin:/bin", "A=1 2"}}});
  EXPECT_EQ(outcome.stdout_text, "PATH=/usr/bin:/bin\nA=1 2\n");
}

TEST(Subprocess, InheritsTheEnvironmentByDefault) {
  ::setenv("KERF_TEST_VARIABLE", "seen", 1);
  const ProcessOutcome outcome = MustRun(Shell("echo $KERF_TEST_VARIABLE"));
  ::unsetenv("KERF_TEST_VARIABLE");
  EXPECT_EQ(outcome.stdout_text, "seen\n");
}

TEST(Subprocess, RunsInTheDirectoryGiven) {
  EXPECT_EQ(MustRun({.argv = {"pwd"}, .cwd = "/usr"}).stdout_text, "/usr\n");
  const Result<ProcessOutcome> missing = RunProcess({.argv = {"pwd"}, .cwd = "/nowhere"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere"));
}

TEST(Subprocess, GivesTheChildThreeDescriptorsOnly) {
  // Without close-on-exec, as a library might have it.
  const int leaky = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(leaky, 3);
  const ProcessOutcome outcome = MustRun({.argv = {"ls", "/proc/self/fd"}});
  ::close(leaky);
  EXPECT_EQ(outcome.stdout_text, "0\n1\n2\n3\n");  // 3 is the directory that ls itself reads
}

TEST(Subprocess, ResetsSignalsInTheChild) {
  std::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const ProcessOutcome outcome = MustRun(Shell("kill -USR1 $$; echo survived"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(outcome.signal, SIGUSR1);
  EXPECT_EQ(outcome.stdout_text, "");
}

TEST(Subprocess, DoesNotWaitForGrandchildrenThatHoldThePipes) {
  Command command = Shell("sleep 100 & echo $!");
  command.grace = milliseconds(100);
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_LT(outcome.wall_time, seconds(5));
  EXPECT_TRUE(DiesSoon(std::stoi(outcome.stdout_text)));
}

TEST(Subprocess, KillsGrandchildrenThatHoldNothing) {
  const ProcessOutcome outcome = MustRun(Shell("sleep 100 <&- >&- 2>&- & echo $!"));
  EXPECT_TRUE(DiesSoon(std::stoi(outcome.stdout_text)));
}

TEST(Subprocess, DoesNotWaitForADescendantInAnotherSession) {
  Command command = Shell("setsid sleep 3 & sleep 100");
  command.timeout = milliseconds(200);
  command.grace = milliseconds(100);
  const ProcessOutcome outcome = MustRun(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_LT(outcome.wall_time, seconds(2));
}

TEST(Subprocess, ReadsWhatAGrandchildWritesAfterTheChildEnded) {
  const ProcessOutcome outcome = MustRun(Shell("(sleep 0.2; echo late) & echo early"));
  EXPECT_EQ(outcome.stdout_text, "early\nlate\n");
}

TEST(Subprocess, LeavesNoZombiesAndNoDescriptors) {
  MustRun(Shell("exit 0"));  // whatever is opened once
  const int before = OpenDescriptors();
  for (int i = 0; i < 20; ++i) {
    MustRun(Shell("exit 0"));
    EXPECT_FALSE(RunProcess({.argv = {"/nowhere/program"}}).ok());
    EXPECT_FALSE(RunProcess({.argv = {"pwd"}, .cwd = "/nowhere"}).ok());
  }
  Command hung = Shell("sleep 100");
  hung.timeout = milliseconds(50);
  EXPECT_TRUE(MustRun(hung).timed_out);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Subprocess, RunsFromManyThreadsAtOnce) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t, &right] {
      for (int i = 0; i < 10; ++i) {
        Command command{.argv = {"cat"}, .input = std::string(100'000, static_cast<char>('a' + t))};
        const Result<ProcessOutcome> outcome = RunProcess(command);
        if (outcome.ok() && outcome->exit_code == 0 && outcome->stdout_text == command.input)
          ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST(Subprocess, ChildDiesWithTheProgramThatRunsIt) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const pid_t runner = ::fork();
  ASSERT_GE(runner, 0);
  if (runner == 0) {
    const std::string script = "echo $$ > /proc/" + std::to_string(::getpid()) + "/fd/" +
                               std::to_string(fds[1]) + "; exec sleep 100";
    (void)RunProcess(Shell(script));
    ::_exit(0);
  }
  ::close(fds[1]);
  char text[32] = {};
  ASSERT_GT(::read(fds[0], text, sizeof text - 1), 0);
  ::close(fds[0]);
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_TRUE(DiesSoon(std::atoi(text)));
}

TEST(FindProgram, TakesTheFirstExecutableFileInPath) {
  char name[] = "/tmp/kerf-find-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string dir = name;
  ::mkdir((dir + "/sh").c_str(), 0755);  // a directory is no program
  std::ofstream(dir + "/plain") << "x";
  EXPECT_EQ(FindProgram("sh", dir + ":/bin"), "/bin/sh");
  EXPECT_EQ(FindProgram("plain", dir + ":/bin"), std::nullopt);
  EXPECT_EQ(FindProgram("a/b", ""), "a/b");
  EXPECT_EQ(FindProgram("", "/bin"), std::nullopt);
  ::rmdir((dir + "/sh").c_str());
  ::unlink((dir + "/plain").c_str());
  ::rmdir(name);
}

}  // namespace
}  // namespace kerf
