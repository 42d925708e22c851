// Compiles the generated C++ with the host compiler against the stubs of test/data/replay_stubs,
// and runs it: the stub of the runtime records calls, the kernel prints what it finds in its slots.
// Only the launch itself is rewritten: <<<…>>> is no C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "base/subprocess.h"
#include "replay/workspace/workspace_plans.h"
#include "replay/workspace/workspace_text.h"
#include "replay/workspace/workspace_writer.h"

namespace kerf::workspace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kStubs = std::string(KERF_SOURCE_DIR) + "/test/data/replay_stubs";

// Prints the slots of one row, and what the descriptors of slots 0 and 1 say.
const char* const kProbe = R"(#include <cstdio>
#include <cstring>
#include <initializer_list>
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  for (int slot : {0, 1}) {
    auto *d = reinterpret_cast<unsigned char *>(args[slot]);
    auto u64 = [&](int at) { unsigned long v; std::memcpy(&v, d + at, 8); return v; };
    auto u32 = [&](int at) { unsigned v; std::memcpy(&v, d + at, 4); return v; };
    auto *data = reinterpret_cast<unsigned char *>(u64(0));
    std::printf("%s slot %d: size %lu owner %lx start %lu ndims %u dtype %d contiguous %d space %d shape %u %u extent %lu strides %u %u "
                "first %02x%02x last %02x\n", NAME, slot, u64(8), u64(16), u64(24), u32(36), d[40], d[42], d[43], u32(44), u32(48),
                u64(64), u32(72), u32(76), data[0], data[1], data[u64(8) - 1]);
  }
  auto *local = reinterpret_cast<int *>(args[48]);
  auto *global = reinterpret_cast<int *>(args[49]);
  std::printf("%s scalars %lx %lx block %d of %d lane %d\n", NAME, (unsigned long)args[4], (unsigned long)args[5], local[0], local[1], global[0]);
}
)";

class Build : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"c++", "objcopy"}) {
      if (!FindProgram(program, std::getenv("PATH")))
        GTEST_SKIP() << "no " << program << " in PATH";
    }
    std::string pattern = ::testing::TempDir() + "kerf_replay_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(dir_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ProcessOutcome Run(std::vector<std::string> argv, std::vector<std::string> variables = {}) {
    variables.push_back("PATH=" + std::string(std::getenv("PATH")));
    auto outcome = RunProcess({.argv = std::move(argv), .cwd = dir_, .environment = variables});
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  // Compiles what the plan gives and returns the program; the kernels are the probe.
  std::string Compile(ReplayPlan plan) {
    for (KernelMember& member : plan.kernel.members) {
      const std::string name = member.source.substr(member.source.rfind('/') + 1);
      Write(name, "#define NAME \"" + name + "\"\n" + kProbe + "#undef NAME\n");
      member.source = dir_ + "/" + name;
    }
    const auto fs = MakePosixFileSystem();
    EXPECT_TRUE(WriteWorkspace(*fs, plan, dir_ + "/ws").ok());
    // A launch runs every block, the cube version once and the vector version on both lanes.
    const std::string launch =
        std::regex_replace(Read("ws/replay_launch.cpp"),
                           std::regex("replay_entry<<<(.*), nullptr, stream>>>\\(([^;]*)\\);"),
                           "for (g_block = 0; g_block < $1; ++g_block) { CORES($2) }");
    EXPECT_THAT(launch, Not(HasSubstr("<<<")));
    Write("launch.cpp", launch);
    const bool cube = plan.kernel.shape != KernelShape::kAiv;
    const bool vec = plan.kernel.shape != KernelShape::kAic;
    std::vector<std::string> flags = {"-std=c++17",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror",
                                      "-Wno-unused-parameter",
                                      "-I" + kStubs,
                                      "-DAICORE=",
                                      "-D__global__=",
                                      "-D__gm__=",
                                      "-D__aicore__=",
                                      "-include",
                                      kStubs + "/cce_aicore_intrinsics.h"};
    const auto compile = [&](const std::string& source, const std::string& object,
                             std::vector<std::string> more) {
      std::vector<std::string> argv = {"c++", "-c", source, "-o", object};
      argv.insert(argv.end(), flags.begin(), flags.end());
      argv.insert(argv.end(), more.begin(), more.end());
      const ProcessOutcome outcome = Run(argv);
      EXPECT_EQ(outcome.exit_code, 0) << source << ": " << outcome.stderr_text;
    };
    // The two versions of the kernel are two objects; their kernel_entry stays their own when they
    // are linked together.
    compile(dir_ + "/ws/replay_kernel.cpp", "cube.o",
            {"-D__DAV_CUBE__", "-Dreplay_entry=cube_entry"});
    compile(dir_ + "/ws/replay_kernel.cpp", "vec.o", {"-D__DAV_VEC__", "-Dreplay_entry=vec_entry"});
    for (const char* object : {"cube.o", "vec.o"}) {
      const ProcessOutcome local =
          Run({"objcopy", "--wildcard", "--localize-symbol=kernel_entry*", object});
      EXPECT_EQ(local.exit_code, 0) << local.stderr_text;
    }
    const std::string parameters =
        plan.kernel.shape == KernelShape::kMix ? "int64_t *, int64_t *" : "int64_t *";
    Write("cores.h",
          "#include <cstdint>\nextern \"C\" void cube_entry(" + parameters +
              ");\nextern \"C\" void vec_entry(" + parameters + ");\n" + "#define CORES(...) { " +
              (cube ? "g_lane = 0; cube_entry(__VA_ARGS__); " : "") +
              (vec ? "for (g_lane = 0; g_lane < 2; ++g_lane) vec_entry(__VA_ARGS__); " : "") +
              "}\n");
    compile(dir_ + "/launch.cpp", "launch.o", {"-include", dir_ + "/cores.h"});
    compile(dir_ + "/ws/replay_host.cpp", "host.o", {});
    const ProcessOutcome linked =
        Run({"c++", "host.o", "launch.o", "cube.o", "vec.o", "-o", "program"});
    EXPECT_EQ(linked.exit_code, 0) << linked.stderr_text;
    return dir_ + "/program";
  }

  std::string dir_;
};

TEST_F(Build, AVectorKernelFindsItsArguments) {
  ReplayPlan plan = PlanOf(KernelShape::kAiv, Platform::kA2A3);
  std::get<TensorArg>(plan.args.args[0].value).fill_bits = 0x3F80;
  const ProcessOutcome outcome = Run({Compile(plan)}, {"ACL_DEVICE_ID=3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text,
              HasSubstr("vector.cpp slot 0: size 1024 owner ffffffffffffffff start 0 ndims 2 dtype "
                        "0 contiguous 1 space 1 shape 16 16 "
                        "extent 256 strides 16 1 first 803f last 00\n"
                        "vector.cpp slot 1: size 512 owner ffffffffffffffff start 0 ndims 2 dtype "
                        "6 contiguous 1 space 1 shape 8 32 "
                        "extent 256 strides 32 1 first 0000 last 00\n"
                        "vector.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 0\n"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("replay_entry ran on device 3"));
  EXPECT_THAT(outcome.stderr_text, HasSubstr("acl: 0 buffers left"));
  EXPECT_THAT(outcome.stderr_text, HasSubstr("acl: aclrtSynchronizeStream\n"));
}

TEST_F(Build, ACubeKernelRunsOnTheCubeOnly) {
  const ProcessOutcome outcome = Run({Compile(PlanOf(KernelShape::kAic, Platform::kA5))});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text,
              HasSubstr("cube.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 0\n"));
  EXPECT_THAT(outcome.stdout_text, Not(HasSubstr("vector.cpp")));
}

TEST_F(Build, AMixHasARowForEveryLaneOfEveryBlock) {
  const ProcessOutcome outcome = Run({Compile(PlanOf(KernelShape::kMix, Platform::kA2A3))});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  // Two blocks of a dispatch that overrides slot 4, then one that does not.
  std::string scalars;
  std::istringstream lines(outcome.stdout_text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("scalars") != std::string::npos) scalars += line + "\n";
  }
  EXPECT_EQ(scalars,
            "cube.cpp scalars 40000000 ffffffffffffffff block 0 of 2 lane 0\n"
            "vector.cpp scalars 40000000 ffffffffffffffff block 0 of 2 lane 0\n"
            "vector.cpp scalars 40000000 ffffffffffffffff block 0 of 2 lane 1\n"
            "cube.cpp scalars 40000000 ffffffffffffffff block 1 of 2 lane 0\n"
            "vector.cpp scalars 40000000 ffffffffffffffff block 1 of 2 lane 0\n"
            "vector.cpp scalars 40000000 ffffffffffffffff block 1 of 2 lane 1\n"
            "cube.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 0\n"
            "vector.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 0\n"
            "vector.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 1\n");
}

TEST_F(Build, TwoVectorSourcesRunOnTheirLanes) {
  ReplayPlan plan = PlanOf(KernelShape::kMix, Platform::kA5);
  plan.kernel.members.push_back(MemberOn(CoreType::kAiv, "/scenes/kernels/second.cpp", {}));
  plan.dispatches = {{1, {}}};
  // The probe has no names of its own but kernel_entry, which the workspace renames.
  const ProcessOutcome outcome = Run({Compile(plan)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text,
              HasSubstr("vector.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 0\n"));
  EXPECT_THAT(outcome.stdout_text,
              HasSubstr("second.cpp scalars 3e000000 ffffffffffffffff block 0 of 1 lane 1\n"));
}

TEST_F(Build, PayloadsReachTheKernel) {
  Write("x.bin", std::string(1022, 'x') + "yz");
  ReplayPlan plan = PlanOf(KernelShape::kAiv, Platform::kA2A3);
  std::get<TensorArg>(plan.args.args[0].value).data = ArgData{dir_ + "/x.bin", 0, 1024};
  const std::string program = Compile(plan);
  const ProcessOutcome outcome = Run({program}, {"REPLAY_PAYLOAD_DIR=" + dir_ + "/ws/payload"});
  EXPECT_THAT(outcome.stdout_text, HasSubstr("first 7878 last 7a"));
  const ProcessOutcome missing = Run({program});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.stderr_text,
              HasSubstr("payload/slot_00.bin: 1024 bytes are needed, 0 could be read"));
}

TEST_F(Build, EveryCallOfTheRuntimeIsChecked) {
  const std::string program = Compile(PlanOf(KernelShape::kAiv, Platform::kA2A3));
  for (const char* call : {"aclInit", "aclrtSetDevice", "aclrtCreateStream", "aclrtMalloc",
                           "aclrtMemcpy", "aclrtSynchronizeStream", "aclrtFree",
                           "aclrtDestroyStream", "aclrtResetDevice", "aclFinalize"}) {
    const ProcessOutcome outcome = Run({program}, {"STUB_ACL_FAIL=" + std::string(call)});
    EXPECT_EQ(outcome.exit_code, 1) << call;
    EXPECT_THAT(outcome.stderr_text, HasSubstr("failed with 507000")) << call;
  }
}

TEST_F(Build, TheScriptIsBashAndSaysWhatIsMissing) {
  const auto fs = MakePosixFileSystem();
  ASSERT_TRUE(WriteWorkspace(*fs, PlanOf(KernelShape::kAic, Platform::kA2A3), dir_ + "/ws").ok());
  EXPECT_EQ(Run({"bash", "-n", "ws/run_collect.sh"}).exit_code, 0);
  const ProcessOutcome outcome = Run({"ws/run_collect.sh", "build"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.stderr_text, HasSubstr("CANN_HOME is not set"));
  EXPECT_EQ(Run({"ws/run_collect.sh", "dance"}, {"CANN_HOME=/x", "REPO_ROOT=/x", "PTO_ISA_ROOT=/x"})
                .exit_code,
            2);
}

}  // namespace
}  // namespace kerf::workspace
