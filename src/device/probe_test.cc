// Every probe against a fake of what it asks: sysfs trees, a small NVML library, an npu-smi script.
#include "device/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <random>

#include "device/testing/temp_dir.h"
#include "device/testing/variables.h"

namespace kerf::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Ids(const ProbeResult& result) {
  std::vector<std::string> ids;
  for (const Device& device : result.devices) {
    ids.push_back(device.id.ToString() + "=" + std::to_string(device.index));
  }
  return ids;
}

// ---- cpu

class CpuProbeTest : public ::testing::Test {
 protected:
  ProbeResult Probe() {
    Result<ProbeResult> result = ProbeCpu(options_);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::move(result).value();
  }
  TempDir root_;
  ProbeOptions options_{
      .environment = Variables({}), .root = root_.path(), .affinity = {2, 3, 5, 7}};
};

TEST_F(CpuProbeTest, OneSlotForEachProcessorOfTheMask) {
  root_.Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n");
  root_.Write("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
  const ProbeResult result = Probe();
  EXPECT_THAT(Ids(result), ElementsAre("cpu:0=0", "cpu:1=1", "cpu:2=2", "cpu:3=3"));
  EXPECT_THAT(result.devices[2].cpus, ElementsAre(5));
  EXPECT_EQ(result.devices[0].name, "Some CPU @ 2 GHz");
  EXPECT_EQ(result.devices[0].memory_bytes, 16384U << 10);
  EXPECT_FALSE(result.devices[0].arch.empty());
}

TEST_F(CpuProbeTest, SlotsOfSeveralThreads) {
  options_.environment = Variables({{"KERF_CPU_SLOT_THREADS", "3"}});
  const ProbeResult result = Probe();
  ASSERT_EQ(result.devices.size(), 1U);
  EXPECT_THAT(result.devices[0].cpus, ElementsAre(2, 3, 5));
  options_.environment = Variables({{"KERF_CPU_SLOT_THREADS", "9"}});
  ASSERT_EQ(Probe().devices.size(), 1U);
  EXPECT_EQ(Probe().devices[0].cpus.size(), 4U);
}

TEST_F(CpuProbeTest, ABadNumberOfThreadsIsAnError) {
  for (const char* value : {"0", "-1", "two", "1.5"}) {
    options_.environment = Variables({{"KERF_CPU_SLOT_THREADS", value}});
    const Result<ProbeResult> result = ProbeCpu(options_);
    ASSERT_FALSE(result.ok()) << value;
    EXPECT_THAT(result.error().message, HasSubstr("KERF_CPU_SLOT_THREADS='"));
  }
}

TEST_F(CpuProbeTest, TheTightestCgroupOfVersionTwoCounts) {
  root_.Write("proc/self/cgroup", "0::/outer/inner\n");
  root_.Write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(Probe().devices.size(), 4U);
  root_.Write("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
  EXPECT_EQ(Probe().devices.size(), 2U);
  EXPECT_THAT(Probe().notes, ElementsAre("the cgroup gives 2 of 4 processors"));
  EXPECT_EQ(UsableProcessors(options_), 2);
  root_.Write("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(Probe().devices.size(), 1U);
  EXPECT_EQ(UsableProcessors(options_), 1);
}

TEST_F(CpuProbeTest, CgroupsOfVersionOneCount) {
  root_.Write("proc/self/cgroup", "12:memory:/x\n4:cpu,cpuacct:/box\n");
  root_.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  root_.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Probe().devices.size(), 3U);
  root_.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Probe().devices.size(), 4U);
}

TEST_F(CpuProbeTest, ACgroupOutsideOfViewIsLookedForAtTheRoot) {
  root_.Write("proc/self/cgroup", "0::/../../box\n");
  root_.Write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(Probe().devices.size(), 1U);
}

TEST_F(CpuProbeTest, ThisMachineHasOneAtLeast) {
  const Result<ProbeResult> result = ProbeCpu({});
  ASSERT_TRUE(result.ok());
  ASSERT_FALSE(result->devices.empty());
  EXPECT_FALSE(result->devices[0].cpus.empty());
}

TEST(CgroupCpus, MakesNothingOfNonsense) {
  for (const char* text :
       {"", "max", "max 100000", "1 0", "0 1", "x y", "1 2 3", "-1\n 100000\n"}) {
    EXPECT_EQ(CgroupCpus(text), 0) << text;
  }
  EXPECT_EQ(CgroupCpus("150000 100000\n"), 1.5);
}

// ---- cuda

class CudaProbeTest : public ::testing::Test {
 protected:
  ProbeResult Probe(const char* play) {
    // The library is loaded into this process and can only look here.
    ::setenv("KERF_FAKE_NVML", play, 1);
    return ProbeCuda(options_);
  }
  ProbeOptions options_{.environment = Variables({}), .nvml_library = KERF_FAKE_NVML_LIBRARY};
};

TEST_F(CudaProbeTest, DescribesGpus) {
  const ProbeResult result = Probe("h200,a100");
  ASSERT_THAT(Ids(result), ElementsAre("cuda:0=0", "cuda:1=1"));
  const Device& h200 = result.devices[0];
  EXPECT_EQ(h200.name, "NVIDIA H200");
  EXPECT_EQ(h200.chip, "h200");
  EXPECT_EQ(h200.arch, "sm_90");
  EXPECT_EQ(h200.uuid, "GPU-aaaa-1");
  EXPECT_EQ(h200.memory_bytes, uint64_t{140} << 30);
  EXPECT_EQ(h200.health.state, HealthState::kGood);
  EXPECT_EQ(result.devices[1].chip, "a100");
  EXPECT_EQ(result.devices[1].arch, "sm_80");
  EXPECT_EQ(result.why_none, "");
}

TEST_F(CudaProbeTest, SaysWhyThereIsNone) {
  EXPECT_EQ(Probe("none").why_none, "NVIDIA's driver is there, but it sees no GPU");
  EXPECT_EQ(Probe("no-driver").why_none, "NVML does not start: Driver Not Loaded (code 9)");
  EXPECT_EQ(Probe("no-count").why_none, "NVML cannot count the GPUs: error (code 999)");
  EXPECT_THAT(Probe("absurd").why_none, HasSubstr("cannot be true"));
  options_.nvml_library = "libkerf-no-such-library.so.1";
  EXPECT_THAT(Probe("h200").why_none, HasSubstr("cannot be loaded"));
  options_.nvml_library = "libc.so.6";
  EXPECT_THAT(Probe("h200").why_none, HasSubstr("lacks nvmlInit_v2"));
}

TEST_F(CudaProbeTest, AGpuThatIsLostIsSetAside) {
  const ProbeResult result = Probe("lost");
  ASSERT_EQ(result.devices.size(), 2U);
  EXPECT_EQ(result.devices[0].health.state, HealthState::kGood);
  EXPECT_EQ(result.devices[1].health.state, HealthState::kSetAside);
  EXPECT_EQ(result.devices[1].health.reason, "NVML says: GPU is lost (code 15)");
}

TEST_F(CudaProbeTest, AnOverlongNameAndMissingFactsDoNoHarm) {
  const ProbeResult result = Probe("overlong");
  ASSERT_EQ(result.devices.size(), 1U);
  EXPECT_EQ(result.devices[0].name, std::string(96, 'x'));
  EXPECT_EQ(result.devices[0].health.state, HealthState::kDoubtful);
}

TEST_F(CudaProbeTest, HonoursCudaVisibleDevices) {
  const auto visible = [&](const char* value) {
    options_.environment = Variables({{"CUDA_VISIBLE_DEVICES", value}});
    return Probe("h200,a100");
  };
  EXPECT_THAT(Ids(visible("1,0")), ElementsAre("cuda:1=0", "cuda:0=1"));
  EXPECT_THAT(Ids(visible("GPU-bbbb")), ElementsAre("cuda:1=0"));
  EXPECT_THAT(Ids(visible(" 0 , 7, 1")), ElementsAre("cuda:0=0"));
  EXPECT_THAT(visible("0,7,1").notes, ElementsAre(HasSubstr("'7' names no device")));
  EXPECT_THAT(visible("0,0").notes, ElementsAre(HasSubstr("comes twice")));
  EXPECT_THAT(visible("GPU-").notes, ElementsAre(HasSubstr("'GPU-' names no device")));
  EXPECT_THAT(visible("").why_none, HasSubstr("hides all 2 devices"));
  EXPECT_THAT(visible("-1").why_none, HasSubstr("CUDA_VISIBLE_DEVICES='-1' hides"));
}

TEST(NvidiaChip, IsTheShortName) {
  const std::pair<const char*, const char*> cases[] = {
      {"NVIDIA H200", "h200"},
      {"NVIDIA H100 80GB HBM3", "h100"},
      {"A100-PCIE-40GB", "a100"},
      {"Tesla V100-SXM2-32GB", "v100"},
      {"NVIDIA GeForce RTX 4090", "rtx4090"},
      {"NVIDIA GeForce RTX 4070 Ti SUPER", "rtx4070tisuper"},
      {"NVIDIA RTX 6000 Ada Generation", "rtx6000ada"},
      {"NVIDIA GH200 480GB", "gh200"},
      {"", ""},
      {"NVIDIA", ""}};
  for (const auto& [name, chip] : cases) EXPECT_EQ(NvidiaChip(name), chip) << name;
}

// ---- rocm

class RocmProbeTest : public ::testing::Test {
 protected:
  void WriteNode(int node, const std::string& properties) {
    root_.Write(Node(node) + "/properties", properties);
  }
  static std::string Node(int node) {
    return "sys/class/kfd/kfd/topology/nodes/" + std::to_string(node);
  }
  // One CPU node and two GPUs.
  void WriteMachine() {
    root_.Write("dev/kfd", "");
    WriteNode(0, "cpu_cores_count 96\nsimd_count 0\n");
    WriteNode(1,
              "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\n"
              "unique_id 11068046444225730969\n");
    root_.Write(Node(1) + "/name", "ip discovery\n");
    root_.Write(Node(1) + "/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 206141652992\n");
    root_.Write(Node(1) + "/mem_banks/1/properties", "heap_type 0\nsize_in_bytes 99\n");
    WriteNode(2, "simd_count 440\ngfx_target_version 90010\nunique_id 2\n");
  }
  ProbeResult Probe() { return ProbeRocm(options_); }

  TempDir root_;
  ProbeOptions options_{.environment = Variables({}), .root = root_.path()};
};

TEST_F(RocmProbeTest, DescribesGpus) {
  WriteMachine();
  const ProbeResult result = Probe();
  ASSERT_THAT(Ids(result), ElementsAre("rocm:0=0", "rocm:1=1"));
  const Device& first = result.devices[0];
  EXPECT_EQ(first.arch, "gfx942");
  EXPECT_EQ(first.chip, "mi300");
  EXPECT_EQ(first.name, "AMD ip discovery");
  EXPECT_EQ(first.uuid, "GPU-9999999999999999");
  EXPECT_EQ(first.memory_bytes, 206141652992U);
  EXPECT_EQ(first.health.state, HealthState::kGood);
  EXPECT_EQ(result.devices[1].arch, "gfx90a");
}

TEST_F(RocmProbeTest, SaysWhyThereIsNone) {
  EXPECT_THAT(Probe().why_none, HasSubstr("the amdgpu driver is not loaded"));
  WriteNode(0, "simd_count 0\n");
  EXPECT_THAT(Probe().why_none, HasSubstr("sees no GPU"));
}

TEST_F(RocmProbeTest, AGpuThatCannotBeOpenedIsSetAside) {
  WriteMachine();
  std::filesystem::remove(root_.path() + "/dev/kfd");
  EXPECT_EQ(Probe().devices[0].health.state, HealthState::kSetAside);
  EXPECT_THAT(Probe().devices[0].health.reason, HasSubstr("/dev/kfd"));
}

TEST_F(RocmProbeTest, HipNumbersWhatRocrShows) {
  WriteMachine();
  options_.environment =
      Variables({{"ROCR_VISIBLE_DEVICES", "GPU-0000000000000002,0"}, {"HIP_VISIBLE_DEVICES", "1"}});
  EXPECT_THAT(Ids(Probe()), ElementsAre("rocm:0=0"));
  options_.environment = Variables({{"HIP_VISIBLE_DEVICES", ""}});
  EXPECT_THAT(Probe().why_none, HasSubstr("HIP_VISIBLE_DEVICES='' hides all 2"));
}

TEST_F(RocmProbeTest, MalformedNodesDoNoHarm) {
  WriteMachine();
  root_.Write("sys/class/kfd/kfd/topology/nodes/readme/properties", "simd_count 1\n");
  WriteNode(1, std::string("simd_count 4\n\0\xff x\ngfx_target_version -5\nunique_id\n", 50));
  WriteNode(2, "");
  WriteNode(3, "simd_count 4\ngfx_target_version 99999999999999999999999\n");
  WriteNode(4, "simd_count 4\ngfx_target_version 99999\n");
  const ProbeResult result = Probe();
  ASSERT_EQ(result.devices.size(), 3U);
  for (const Device& device : result.devices) {
    EXPECT_EQ(device.arch, "");
    EXPECT_EQ(device.health.state, HealthState::kDoubtful);
  }
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("nodes/2 cannot be read")));
}

TEST_F(RocmProbeTest, SurvivesMutations) {
  WriteMachine();
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string text =
        "simd_count 1216\ngfx_target_version 90402\nunique_id 11068046444225730969\n";
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    WriteNode(1, text.substr(0, random() % (text.size() + 1)));
    root_.Write(Node(1) + "/mem_banks/0/properties", "heap_type 1\n" + text);
    const size_t found = Probe().devices.size();
    EXPECT_TRUE(found == 1 || found == 2) << text;
  }
}

TEST(GfxArch, HasOneHexadecimalDigitForMinorAndStepping) {
  EXPECT_EQ(GfxArch(90402), "gfx942");
  EXPECT_EQ(GfxArch(90010), "gfx90a");
  EXPECT_EQ(GfxArch(110001), "gfx1101");
  EXPECT_EQ(GfxArch(0), "");
  EXPECT_EQ(GfxArch(99999), "");
  EXPECT_EQ(GfxArch(-90402), "");
}

}  // namespace
}  // namespace kerf::device
