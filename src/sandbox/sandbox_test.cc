// Every hostile program of testcases/ against the sandbox, by status and reason. The same tests run
// as root and, when started by root, once more as nobody.
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/child_posix.h"
#include "base/subprocess.h"
#include "sandbox/process_tree.h"
#include "sandbox/sandbox_testing.h"
#include "sandbox/stop_scope.h"

namespace kerf::sandbox {
namespace {

// Programs that must end by themselves with exit code 0: they found no way.
class RepelledProgram : public SandboxTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(RepelledProgram, FindsNoWay) {
  const Outcome outcome = RunCase(GetParam(), {secret()});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(outcome.reason, Reason::kNone);
}

INSTANTIATE_TEST_SUITE_P(Testcases, RepelledProgram,
                         ::testing::Values("read_home", "read_shadow", "write_outside",
                                           "write_sysctl", "list_processes", "clone3_namespace",
                                           "make_device", "set_user_id", "run_set_user_id",
                                           "perf_events", "io_uring", "exec_written",
                                           "personality_trick", "open_many"),
                         [](const auto& test) { return std::string(test.param); });

struct Forbidden {
  const char* program;
  const char* syscall;
};

// Programs that are ended at their first forbidden call, which is named.
class ForbiddenCall : public SandboxTest, public ::testing::WithParamInterface<Forbidden> {};

TEST_P(ForbiddenCall, EndsTheProgram) {
  const Outcome outcome = RunCase(GetParam().program);
  EXPECT_EQ(outcome.status, OutcomeStatus::kViolation) << Describe(outcome);
  EXPECT_EQ(outcome.reason, Reason::kSyscall);
  EXPECT_EQ(outcome.detail, std::string("system call ") + GetParam().syscall);
}

INSTANTIATE_TEST_SUITE_P(
    Testcases, ForbiddenCall,
    ::testing::Values(
        Forbidden{"ptrace_parent", "ptrace"}, Forbidden{"ptrace_hidden", "ptrace"},
        Forbidden{"process_vm_read", "process_vm_readv"}, Forbidden{"remount", "mount"},
        Forbidden{"user_namespace", "unshare"}, Forbidden{"clone_namespace", "clone"},
        Forbidden{"set_namespace", "setns"}, Forbidden{"chroot_escape", "chroot"},
        Forbidden{"pivot_root_escape", "pivot_root"}, Forbidden{"set_clock", "clock_settime"},
        Forbidden{"key_ring", "keyctl"}, Forbidden{"bpf_program", "bpf"},
        Forbidden{"userfault", "userfaultfd"}, Forbidden{"type_into_terminal", "ioctl"},
        Forbidden{"file_handle", "open_by_handle_at"}, Forbidden{"kernel_module", "finit_module"}),
    [](const auto& test) { return std::string(test.param.program); });

TEST_F(SandboxTest, CallsOfAnotherArchitectureEndTheProgram) {
  const Outcome outcome = RunCase("other_architecture");
  if (outcome.exit_code == 77) GTEST_SKIP() << "this architecture has no other";
  EXPECT_EQ(outcome.status, OutcomeStatus::kViolation) << Describe(outcome);
  EXPECT_EQ(outcome.reason, Reason::kSyscall);
}

struct Hit {
  const char* program;
  const char* argument;
  Reason reason;
};

// Programs that are ended at a limit, which is named.
class LimitHit : public SandboxTest, public ::testing::WithParamInterface<Hit> {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    limits_.cpu_time = std::chrono::milliseconds(300);
    const bool waits = GetParam().reason == Reason::kWallTime;
    limits_.wall_time = waits ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000);
    if (waits) limits_.cpu_time = std::chrono::seconds(10);
    if (GetParam().reason != Reason::kCpuTime) limits_.cpu_time = std::chrono::seconds(10);
  }
};

TEST_P(LimitHit, EndsTheProgram) {
  const Outcome outcome = RunCase(GetParam().program, {GetParam().argument});
  EXPECT_EQ(outcome.status, OutcomeStatus::kLimit) << Describe(outcome);
  EXPECT_STREQ(ReasonName(outcome.reason), ReasonName(GetParam().reason)) << Describe(outcome);
  EXPECT_FALSE(outcome.detail.empty());
  EXPECT_EQ(outcome.exit_code, -1);
}

INSTANTIATE_TEST_SUITE_P(
    Testcases, LimitHit,
    ::testing::Values(
        Hit{"fork_bomb", "", Reason::kProcesses}, Hit{"thread_bomb", "", Reason::kProcesses},
        Hit{"memory_bomb", "", Reason::kMemory}, Hit{"memory_bomb_forked", "", Reason::kMemory},
        Hit{"fill_folder", "/tmp", Reason::kTmpSpace},
        Hit{"fill_folder", "/dev/shm", Reason::kTmpSpace},
        Hit{"fill_folder", "/w", Reason::kWorkSpace}, Hit{"fill_names", "", Reason::kWorkSpace},
        Hit{"big_file", "", Reason::kFileSize}, Hit{"huge_output", "", Reason::kOutput},
        Hit{"huge_error_output", "", Reason::kOutput}, Hit{"sleep_long", "", Reason::kWallTime},
        Hit{"ignore_signals", "", Reason::kWallTime}, Hit{"stop_self", "", Reason::kWallTime},
        Hit{"signal_storm", "", Reason::kWallTime}, Hit{"spin", "", Reason::kCpuTime},
        Hit{"spin_forked", "", Reason::kCpuTime}),
    [](const auto& test) {
      const std::string folder = test.param.argument;
      return std::string(test.param.program) + (folder.empty() ? "" : "_") +
             folder.substr(folder.rfind('/') + 1);
    });

TEST_F(SandboxTest, SomebodyElseCanStopIt) {
  for (const char* program : {"sleep_long", "ignore_signals", "spin_forked"}) {
    std::stop_source source;
    const StopScope scope(source.get_token());
    const std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      source.request_stop();
    });
    const Sandbox sandbox(policy_, limits_, mode_, available_);
    const std::string path = std::string("/program/") + program;
    const auto begin = std::chrono::steady_clock::now();
    const Result<Outcome> outcome = sandbox.Run({path});
    ASSERT_FALSE(outcome.ok()) << program << ": " << Describe(*outcome);
    EXPECT_EQ(outcome.error().message, "stopped") << program;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, limits_.wall_time) << program;
    // Nor does anything begin any more.
    EXPECT_FALSE(sandbox.Run({path}).ok()) << program;
  }
  EXPECT_TRUE(RunCase("hello").succeeded()) << "the scope has ended";
}

TEST_F(SandboxTest, SignalsAreReported) {
  Outcome outcome = RunCase("abort_self");
  EXPECT_EQ(outcome.status, OutcomeStatus::kSignaled) << Describe(outcome);
  EXPECT_EQ(outcome.signal, SIGABRT);
  outcome = RunCase("segfault");
  EXPECT_EQ(outcome.status, OutcomeStatus::kSignaled) << Describe(outcome);
  EXPECT_EQ(outcome.signal, SIGSEGV);
}

// A cgroup counts such memory; where there is none it is refused.
TEST_F(SandboxTest, MemoryOfNoProcessIsLimited) {
  const Outcome outcome = RunCase("hidden_memory");
  if (outcome.level.has(Layer::kCgroupMemory)) {
    EXPECT_EQ(outcome.reason, Reason::kMemory) << Describe(outcome);
  } else {
    EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  }
}

TEST_F(SandboxTest, LimitsHitJustBeforeTheEndAreReported) {
  limits_.output_bytes = 1000;
  Outcome outcome = RunCommand({"/bin/sh", "-c", "printf %01001d 0"});
  EXPECT_EQ(outcome.reason, Reason::kOutput) << Describe(outcome);
  outcome = RunCommand({"/bin/sh", "-c", "printf %01000d 0"});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  limits_.work_files = 2;
  outcome = RunCommand({"/bin/sh", "-c", ": >a; : >b; : >c"});
  EXPECT_EQ(outcome.reason, Reason::kWorkSpace) << Describe(outcome);
}

TEST_F(SandboxTest, OutputUpToTheLimitIsKept) {
  const Outcome outcome = RunCase("huge_output");
  EXPECT_EQ(outcome.stdout_text.size(), limits_.output_bytes);
  EXPECT_EQ(outcome.stdout_text.substr(0, 8), "all work");
}

TEST_F(SandboxTest, SecretsOfTheEnvironmentStayOutside) {
  ::setenv("KERF_TEST_SECRET", "hidden", 1);
  const Outcome outcome = RunCase("read_environ", {"KERF_TEST_SECRET"});
  ::unsetenv("KERF_TEST_SECRET");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
}

TEST_F(SandboxTest, OnlyAllowedVariablesGetIn) {
  ::setenv("KERF_TEST_SECRET", "hidden", 1);
  ::setenv("KERF_TEST_OPEN", "seen", 1);
  policy_ = Policy::ForSystemPrograms();
  policy_.WorkFolder(work()).PassVariable("KERF_TEST_OPEN").Variable("OWN", "value");
  const Outcome outcome = RunCommand({"/usr/bin/env"});
  ::unsetenv("KERF_TEST_SECRET");
  ::unsetenv("KERF_TEST_OPEN");
  EXPECT_EQ(outcome.stdout_text, "HOME=/w\nKERF_TEST_OPEN=seen\nOWN=value\nPATH=/usr/bin:/bin\n");
}

TEST_F(SandboxTest, LeakedDescriptorsAreClosed) {
  // On purpose without O_CLOEXEC, as a careless library would.
  const Fd low(::open(secret().c_str(), O_RDWR));
  const Fd high(::fcntl(low.get(), F_DUPFD, 900));
  ASSERT_TRUE(high.open());
  const Outcome outcome = RunCase("leaked_fd");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
}

TEST_F(SandboxTest, HostSocketsCannotBeReached) {
  const Fd internet(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(internet.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(internet.get(), 1), 0);
  socklen_t size = sizeof address;
  ::getsockname(internet.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const Outcome outcome = RunCase("internet_socket", {std::to_string(ntohs(address.sin_port))});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
}

Fd ListenUnix(const std::string& name, bool abstract) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t skip = abstract ? 1 : 0;
  name.copy(address.sun_path + skip, sizeof address.sun_path - 2);
  const size_t size = offsetof(sockaddr_un, sun_path) + skip + name.size() + (abstract ? 0 : 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(size)),
            0);
  EXPECT_EQ(::listen(fd.get(), 1), 0);
  return fd;
}

TEST_F(SandboxTest, UnixSocketsOfTheHostCannotBeReached) {
  const std::string path = root_ + "/outside/socket";
  const std::string abstract = "kerf-test-" + std::to_string(::getpid());
  const Fd by_path = ListenUnix(path, false);
  const Fd by_name = ListenUnix(abstract, true);
  ::chmod(path.c_str(), 0777);
  const Outcome outcome = RunCase("unix_socket", {path, abstract});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
}

TEST_F(SandboxTest, OtherProcessesCannotBeKilled) {
  const pid_t victim = ::fork();
  if (victim == 0) {
    for (;;) ::pause();
  }
  const Outcome outcome = RunCase("kill_others", {std::to_string(victim)});
  int status = 0;
  EXPECT_EQ(::waitpid(victim, &status, WNOHANG), 0) << "the victim is gone";
  ::kill(victim, SIGKILL);
  ::waitpid(victim, &status, 0);
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
}

TEST_F(SandboxTest, NoProcessSurvives) {
  const Outcome outcome = RunCase("daemon");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  const std::string heartbeat = ReadAll(work() + "/heartbeat");
  EXPECT_FALSE(heartbeat.empty());
  ::usleep(50'000);
  EXPECT_EQ(ReadAll(work() + "/heartbeat"), heartbeat) << "the daemon goes on";
  EXPECT_TRUE(Descendants(::getpid()).empty());
}

TEST_F(SandboxTest, ProgramsDieWithKerf) {
  const pid_t kerf = ::fork();
  if (kerf == 0) {
    const std::string beat = "while :; do echo . >>/w/beat; sleep 0.01; done";
    (void)Sandbox(policy_, limits_, mode_).Run({"/bin/sh", "-c", beat});
    ::_exit(0);
  }
  for (int i = 0; i < 500 && ReadAll(work() + "/beat").empty(); ++i) ::usleep(10'000);
  ::kill(kerf, SIGKILL);
  ::waitpid(kerf, nullptr, 0);
  ::usleep(50'000);
  const std::string beats = ReadAll(work() + "/beat");
  EXPECT_FALSE(beats.empty());
  ::usleep(100'000);
  EXPECT_EQ(ReadAll(work() + "/beat"), beats) << "the program goes on";
}

TEST_F(SandboxTest, DeepFoldersCanBeRemoved) {
  const Outcome outcome = RunCase("deep_folders");
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  // TearDown() removes them.
}

TEST_F(SandboxTest, ManyThreadsMayRunProgramsAtOnce) {
  const Sandbox sandbox(policy_, limits_, mode_);
  policy_ = Policy::ForSystemPrograms();
  policy_.Read(ProgramFolder(), "/program");
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i, &good] {
      const std::string input = std::to_string(i);
      const Result<Outcome> outcome =
          Sandbox(policy_, limits_, mode_).Run({"/program/hello"}, input);
      if (outcome.ok() && outcome->stdout_text == "hello " + input) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

// The whole suite once more with an ordinary user's rights.
TEST(SandboxAsNobody, PassesTheSameTests) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  char self[4096] = "";
  ASSERT_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const std::string filter = "--gtest_filter=-SandboxAsNobody.*";
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                              "--clear-groups"};
  const auto run = [&as_nobody](std::vector<std::string> argv) {
    argv.insert(argv.begin(), as_nobody.begin(), as_nobody.end());
    return RunProcess({.argv = argv, .cwd = "/", .timeout = std::chrono::seconds(100)});
  };
  const Result<ProcessOutcome> readable = run({self, "--gtest_list_tests"});
  if (!readable.ok() || readable->exit_code != 0) {
    GTEST_SKIP() << "nobody cannot start " << self << ", or there is no setpriv";
  }
  const Result<ProcessOutcome> outcome = run({self, filter, "--gtest_brief=1"});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->stdout_text << outcome->stderr_text;
}

}  // namespace
}  // namespace kerf::sandbox
