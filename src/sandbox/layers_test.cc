// Each wall stands by itself: what one layer stops is stopped, where possible, by another when the
// first is missing. And the programs do get through when there is no wall, or they would prove
// nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>
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
