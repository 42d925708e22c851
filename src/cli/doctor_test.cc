#include "cli/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/file_system.h"
#include "cli/fake_output.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A bare machine to which tests add things. Constant while checks run.
class FakeMachine : public Machine {
 public:
  std::optional<std::string> Variable(const std::string& name) override {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  }
  std::vector<std::string> FindPrograms(const std::string& name) override {
    std::vector<std::string> found;
    for (const auto& [path, outcome] : programs) {
      if (BaseName(path) == name) found.push_back(path);
    }
    return found;
  }
  Result<ProcessOutcome> Run(const Command& command) override {
    for (const auto& [path, outcome] : programs) {
      if (path == command.argv[0] || BaseName(path) == command.argv[0]) return outcome;
    }
    return NotFound(command.argv[0]);
  }
  bool Exists(const std::string& path) override { return files.count(path) > 0; }
  bool IsExecutable(const std::string& path) override { return programs.count(path) > 0; }
  bool MayReadAndWrite(const std::string& path) override { return writable.count(path) > 0; }
  std::vector<std::string> List(const std::string& dir) override {
    std::vector<std::string> names;
    for (const auto& [path, text] : files) {
      const size_t begin = dir.size() + 1;
      if (path.rfind(dir + "/", 0) == 0)
        names.push_back(path.substr(begin, path.find('/', begin) - begin));
    }
    return names;
  }
  std::string Read(const std::string& path) override { return Exists(path) ? files[path] : ""; }
  bool CanLoad(const std::string& library) override { return libraries.count(library) > 0; }
  int LandlockAbi() override { return landlock; }
  uint64_t FileSystemMagic(const std::string& path) override {
    const auto it = magics.find(path);
    return it == magics.end() ? 0 : it->second;
  }
  Status TryToWrite(const std::string& dir) override {
    if (read_only) return Denied("cannot create a file in " + dir);
    return {};
  }
  std::optional<uint64_t> FreeBytes(const std::string&) override { return free_bytes; }
  std::string BinaryDir() override { return "/src/kerf/build/release"; }

  void AddProgram(const std::string& path, const std::string& output, int exit_code = 0) {
    programs[path] = {.exit_code = exit_code, .stdout_text = output};
  }

  std::map<std::string, std::string> variables;
  std::map<std::string, ProcessOutcome> programs;
  std::map<std::string, std::string> files;
  std::set<std::string> writable;
  std::set<std::string> libraries;
  std::map<std::string, uint64_t> magics;
  int landlock = 0;
  bool read_only = false;
  uint64_t free_bytes = uint64_t{100} << 30;
};

Finding Find(FakeMachine& machine, const std::string& name) {
  for (const Finding& finding : Examine(machine)) {
    if (finding.name == name) return finding;
  }
  ADD_FAILURE() << "no finding " << name;
  return {};
}

TEST(Doctor, ABareMachineCanRunKerf) {
  FakeMachine machine;
  const std::vector<Finding> findings = Examine(machine);
  EXPECT_TRUE(CanRun(findings));
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.enables.empty()) << finding.name;
    EXPECT_FALSE(finding.install.empty()) << finding.name;
  }
  EXPECT_EQ(Find(machine, "g++").health, Health::kMissing);
  EXPECT_EQ(Find(machine, "python").health, Health::kMissing);
}

TEST(Doctor, CannotRunWithoutATemporaryDirectory) {
  FakeMachine machine;
  machine.read_only = true;
  EXPECT_FALSE(CanRun(Examine(machine)));
  EXPECT_THAT(FindingsAsText(Examine(machine), FakeOutput()), HasSubstr("kerf cannot run here"));
}

TEST(Doctor, TellsVersionsOfTools) {
  FakeMachine machine;
  machine.AddProgram("/usr/bin/g++", "g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022");
  machine.AddProgram("/opt/cuda/bin/nvcc", "Copyright (c) 2005-2025\nrelease 13.0, V13.0.88\n");
  machine.variables["CUDA_HOME"] = "/opt/cuda";
  EXPECT_EQ(Find(machine, "g++").detail, "12.2.0 (/usr/bin/g++)");
  EXPECT_EQ(Find(machine, "nvcc").detail, "13.0 (/opt/cuda/bin/nvcc)");
  machine.AddProgram("/usr/bin/g++", "", 1);
  EXPECT_EQ(Find(machine, "g++").health, Health::kLimited);
}

TEST(Doctor, TakesPackagesFromTheFirstInterpreterThatHasThem) {
  FakeMachine machine;
  machine.AddProgram("/custom/python", "python 3.12.1\n");
  machine.AddProgram("/src/kerf/.venv/bin/python", "python 3.11.2\nnumpy 2.0.1\ntorch ?\n");
  machine.AddProgram("/usr/bin/python3", "python 3.11.2\nnumpy 1.24.2\ntriton 3.0.0\n");
  machine.variables["KERF_PYTHON"] = "/custom/python";
  EXPECT_EQ(
      Find(machine, "python").detail,
      "3.12.1 (/custom/python), 3.11.2 (/src/kerf/.venv/bin/python), 3.11.2 (/usr/bin/python3)");
  EXPECT_EQ(Find(machine, "numpy").detail, "2.0.1 (/src/kerf/.venv/bin/python)");
  EXPECT_EQ(Find(machine, "torch").detail, "installed (/src/kerf/.venv/bin/python)");
  EXPECT_EQ(Find(machine, "triton").detail, "3.0.0 (/usr/bin/python3)");
  const Finding mindspore = Find(machine, "mindspore");
  EXPECT_EQ(mindspore.health, Health::kMissing);
  EXPECT_EQ(mindspore.detail,
            "not in /custom/python, /src/kerf/.venv/bin/python, /usr/bin/python3");
}

TEST(Doctor, NeverShowsTheValueOfAKey) {
  FakeMachine machine;
  machine.variables["OPENAI_API_KEY"] = "sk-very-secret";
  machine.variables["OPENAI_BASE_URL"] = "http://user:very-secret@host";
  const std::vector<Finding> findings = Examine(machine);
  EXPECT_EQ(Find(machine, "model endpoint").detail,
            "OPENAI_API_KEY, OPENAI_BASE_URL set (not tried)");
  EXPECT_THAT(FindingsAsText(findings, FakeOutput()), Not(HasSubstr("very-secret")));
  EXPECT_THAT(FindingsAsJson(findings), Not(HasSubstr("very-secret")));
}

TEST(Doctor, NamesNvidiaGpus) {
  FakeMachine machine;
  machine.libraries.insert("libcuda.so.1");
  EXPECT_EQ(Find(machine, "NVIDIA GPU").health, Health::kLimited);
  machine.files["/proc/driver/nvidia/gpus/0000:18:00.0/information"] =
      "Model: \t\t NVIDIA H200\nIRQ: 1\n";
  EXPECT_EQ(Find(machine, "NVIDIA GPU").health, Health::kOk);
  EXPECT_EQ(Find(machine, "NVIDIA GPU").detail, "NVIDIA H200");
  machine.AddProgram("/usr/bin/nvidia-smi",
                     "NVIDIA H200, 143771 MiB, 575.57\nNVIDIA H200, 143771 MiB, 575.57\n");
  EXPECT_EQ(Find(machine, "NVIDIA GPU").detail,
            "NVIDIA H200, 143771 MiB, 575.57; NVIDIA H200, 143771 MiB, 575.57");
  machine.libraries.clear();
  EXPECT_EQ(Find(machine, "NVIDIA GPU").health, Health::kLimited);
}

TEST(Doctor, TellsWhenADeviceMayNotBeOpened) {
  FakeMachine machine;
  machine.files["/dev/kfd"] = "";
  EXPECT_EQ(Find(machine, "AMD GPU").health, Health::kLimited);
  EXPECT_THAT(Find(machine, "AMD GPU").install, HasSubstr("usermod"));
  machine.writable.insert("/dev/kfd");
  EXPECT_EQ(Find(machine, "AMD GPU").health, Health::kOk);
}

TEST(Doctor, CountsAscendDevicesAndFindsCann) {
  FakeMachine machine;
  machine.files["/dev/davinci0"] = "";
  machine.files["/dev/davinci1"] = "";
  machine.files["/dev/davinci_manager"] = "";
  EXPECT_EQ(Find(machine, "Ascend NPU").detail,
            "2 devices (/dev/davinci*); npu-smi is not in PATH");
  machine.AddProgram("/usr/local/bin/npu-smi", "");
  EXPECT_EQ(Find(machine, "Ascend NPU").health, Health::kOk);
  machine.variables["ASCEND_HOME_PATH"] = "/cann";
  EXPECT_EQ(Find(machine, "CANN").detail, "ASCEND_HOME_PATH names /cann, which is not there");
  machine.files["/cann"] = "";
  EXPECT_EQ(Find(machine, "CANN").health, Health::kLimited);
  machine.AddProgram("/cann/bin/msprof", "");
  EXPECT_EQ(Find(machine, "CANN").detail, "/cann; /cann/bin/msprof");
  EXPECT_EQ(Find(machine, "CANN").health, Health::kOk);
}

TEST(Doctor, TriesTheSandboxInsteadOfTrustingIt) {
  FakeMachine machine;
  machine.AddProgram("/usr/bin/unshare", "", 1);
  EXPECT_EQ(Find(machine, "user namespaces").health, Health::kMissing);
  machine.AddProgram("/usr/bin/unshare", "inside\n");
  EXPECT_EQ(Find(machine, "user namespaces").health, Health::kOk);
}

TEST(Doctor, TellsKernelFeatures) {
  FakeMachine machine;
  EXPECT_EQ(Find(machine, "Landlock").health, Health::kMissing);
  machine.landlock = 7;
  EXPECT_EQ(Find(machine, "Landlock").detail, "ABI 7");
  EXPECT_EQ(Find(machine, "cgroups").health, Health::kLimited);
  machine.magics["/sys/fs/cgroup/memory"] = CGROUP_SUPER_MAGIC;
  EXPECT_EQ(Find(machine, "cgroups").detail, "v1: memory");
  machine.magics["/sys/fs/cgroup"] = CGROUP2_SUPER_MAGIC;
  machine.files["/sys/fs/cgroup/cgroup.controllers"] = "cpu memory pids\n";
  EXPECT_EQ(Find(machine, "cgroups").detail, "v2: cpu memory pids");
}

TEST(Doctor, WarnsAboutAFullDisk) {
  FakeMachine machine;
  EXPECT_EQ(Find(machine, "disk space").health, Health::kOk);
  machine.free_bytes = 1 << 20;
  EXPECT_EQ(Find(machine, "disk space").health, Health::kLimited);
}

TEST(Doctor, HostileProgramOutputIsDisarmed) {
  FakeMachine machine;
  machine.AddProgram("/usr/bin/nvidia-smi", "\x1b[2JGPU");
  EXPECT_THAT(FindingsAsText(Examine(machine), FakeOutput()), Not(HasSubstr("\x1b")));
}

TEST(VersionIn, FindsTheFirstDottedNumber) {
  EXPECT_EQ(VersionIn("ccache version 4.7.5\n"), "4.7.5");
  EXPECT_EQ(VersionIn("(c) 2005-2025 release 13.0, V13.0.88"), "13.0");
  EXPECT_EQ(VersionIn("HIP version: 5.2.21153-0"), "5.2.21153");
  EXPECT_EQ(VersionIn("v1."), "");
  EXPECT_EQ(VersionIn("none"), "");
  EXPECT_EQ(VersionIn(""), "");
}

TEST(PosixMachine, AnswersAboutThisMachine) {
  const auto machine = MakePosixMachine();
  EXPECT_FALSE(machine->FindPrograms("sh").empty());
  EXPECT_TRUE(machine->FindPrograms("kerf-no-such-program").empty());
  EXPECT_TRUE(machine->Exists("/"));
  EXPECT_TRUE(machine->TryToWrite(::testing::TempDir()).ok());
  EXPECT_FALSE(machine->TryToWrite("/nowhere").ok());
  EXPECT_GT(machine->FreeBytes("/").value_or(0), 0U);
  EXPECT_THAT(machine->Read("/proc/self/status"), HasSubstr("Pid:"));
  EXPECT_FALSE(machine->CanLoad("libkerf-no-such.so"));
  EXPECT_TRUE(machine->CanLoad("libc.so.6"));
  EXPECT_EQ(machine->Variable("KERF_NO_SUCH_VARIABLE"), std::nullopt);
  EXPECT_TRUE(machine->Exists(machine->BinaryDir()));
}

}  // namespace
}  // namespace kerf::cli
