// Each wall stands by itself: what one layer stops is stopped, where possible, by another when the
// first is missing. And the programs do get through when there is no wall, or they would prove
// nothing.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/process_tree.h"
#include "sandbox/sandbox_testing.h"

namespace kerf::sandbox {
namespace {

class Layers : public SandboxTest {
 protected:
  void ExpectRepelled(const std::vector<std::string>& programs) {
    for (const std::string& program : programs) {
      const Outcome outcome = RunCase(program, {secret()});
      EXPECT_TRUE(outcome.succeeded()) << program << ": " << Describe(outcome);
    }
  }
  void TakeAwayNamespaces() {
    TakeAway({Layer::kUserNamespace, Layer::kMountNamespace, Layer::kPidNamespace,
              Layer::kNetworkNamespace, Layer::kIpcNamespace, Layer::kUtsNamespace,
              Layer::kCgroupNamespace});
  }
};

TEST_F(Layers, WithoutAnyTheProgramsGetThrough) {
  mode_ = Mode::kOff;
  policy_.Read(ProgramFolder());  // paths are the host's
  for (const char* program : {"read_home", "write_outside", "list_processes", "clone3_namespace",
                              "set_user_id", "exec_written", "personality_trick"}) {
    const Outcome outcome = RunCase(program, {secret()});
    EXPECT_EQ(outcome.exit_code, 1) << program << ": " << Describe(outcome);
    EXPECT_EQ(outcome.stderr_text.substr(0, 8), "escaped:") << program;
  }
}

TEST_F(Layers, WithoutSeccompTheOthersHold) {
  TakeAway({Layer::kSeccomp});
  ExpectRepelled({"read_home", "read_shadow", "write_outside", "write_sysctl", "list_processes",
                  "make_device", "run_set_user_id", "ptrace_parent", "process_vm_read", "remount",
                  "user_namespace", "clone_namespace", "set_namespace", "chroot_escape",
                  "pivot_root_escape", "set_clock", "type_into_terminal", "file_handle",
                  "kernel_module"});
}

TEST_F(Layers, WithoutLandlockTheOthersHold) {
  TakeAway({Layer::kLandlock});
  ExpectRepelled({"read_home", "read_shadow", "write_outside", "write_sysctl", "list_processes",
                  "make_device", "set_user_id", "run_set_user_id", "exec_written"});
}

TEST_F(Layers, WithoutNamespacesLandlockKeepsFiles) {
  if (!available_.has(Layer::kLandlock)) GTEST_SKIP() << available_[Layer::kLandlock].detail;
  TakeAwayNamespaces();
  ::chmod(root_.c_str(), 0755);
  const Outcome outcome = RunCase("read_home", {secret()});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(outcome.level.has_namespaces(), false);
  ExpectRepelled({"read_shadow", "set_user_id", "perf_events", "io_uring"});
}

TEST_F(Layers, WithoutNamespacesSeccompKeepsTheNetworkAway) {
  TakeAwayNamespaces();
  ::chmod(root_.c_str(), 0755);
  const Outcome outcome = RunCase("internet_socket", {"1"});
  EXPECT_TRUE(outcome.succeeded()) << Describe(outcome);
  EXPECT_EQ(RunCase("ptrace_parent").detail, "system call ptrace");
}

TEST_F(Layers, WithoutNamespacesNoProcessSurvives) {
  TakeAwayNamespaces();
  ::chmod(root_.c_str(), 0755);
  limits_.wall_time = std::chrono::milliseconds(300);
  const Outcome outcome =
      RunCommand({"/usr/bin/sh", "-c", "(setsid sh -c 'sleep 1000' &) ; sleep 1000"});
  EXPECT_EQ(outcome.reason, Reason::kWallTime) << Describe(outcome);
  EXPECT_TRUE(Descendants(::getpid()).empty());
}

// As in a container that watches system calls itself: the kernel allows one listener only.
bool InstallOtherListener() {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{1, allow};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                   &program) >= 0;
}

TEST_F(Layers, WithAListenerOutsideTheFilterKills) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!InstallOtherListener()) ::_exit(3);
    const Result<Outcome> outcome =
        Sandbox(policy_, limits_, mode_, available_).Run({"/program/ptrace_parent"});
    const bool good = outcome.ok() && outcome->status == OutcomeStatus::kViolation &&
                      outcome->reason == Reason::kSyscall;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "there is a listener already";
  EXPECT_EQ(status, 0);
}

// What an ordinary user has: the watchdog alone.
class WithoutCgroups : public Layers {
 protected:
  void SetUp() override {
    Layers::SetUp();
    TakeAway({Layer::kCgroupMemory, Layer::kCgroupPids});
  }
};

TEST_F(WithoutCgroups, MemoryOfTheWholeTreeIsLimited) {
  EXPECT_EQ(RunCase("memory_bomb").reason, Reason::kMemory);
  EXPECT_EQ(RunCase("memory_bomb_forked").reason, Reason::kMemory);
  ExpectRepelled({"hidden_memory"});
}

TEST_F(WithoutCgroups, ProcessesAreLimited) {
  EXPECT_EQ(RunCase("fork_bomb").reason, Reason::kProcesses);
  EXPECT_EQ(RunCase("thread_bomb").reason, Reason::kProcesses);
}

// Root becomes nobody even when user namespaces are switched off on the machine.
TEST_F(Layers, RootDoesWithoutUserNamespaces) {
  if (::geteuid() != 0) GTEST_SKIP() << "an ordinary user needs a user namespace for the others";
  TakeAway({Layer::kUserNamespace});
  ExpectRepelled({"read_home", "write_outside", "write_sysctl", "run_set_user_id"});
  EXPECT_EQ(RunCase("hello").stderr_text, "uid 65534");
}

}  // namespace
}  // namespace kerf::sandbox
