#include "cli/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/fake_file_system.h"
#include "cli/app.h"
#include "cli/fake_output.h"
#include "cli/registry.h"
#include "device/pool.h"

namespace kerf::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A machine with two processors and nothing else.
class DevicesTest : public ::testing::Test {
 protected:
  DevicesTest() {
    std::string pattern = testing::TempDir() + "kerf_devices_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    variables_["KERF_DEVICE_DIR"] = root_ + "/devices";
    options_.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto it = variables_.find(name);
      if (it == variables_.end()) return std::nullopt;
      return it->second;
    };
    options_.root = root_;
    options_.nvml_library = root_ + "/libnvidia-ml.so.1";
    options_.npu_smi = root_ + "/npu-smi";
    options_.affinity = {0, 1};
  }
  ~DevicesTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  int Run(std::vector<std::string> words) {
    Verb verb = DevicesVerb();
    verb.run = [&](const Args& args, Context& context) {
      return ReportDevices(args, context, options_);
    };
    out_ = FakeOutput();
    words.insert(words.begin(), "devices");
    return RunVerbs({verb}, words, context_);
  }
  nlohmann::json RunJson(std::vector<std::string> words) {
    words.emplace_back("--json");
    EXPECT_EQ(Run(words), kExitDone) << out_.failures;
    return nlohmann::json::parse(out_.data);
  }
  std::unique_ptr<device::DevicePool> MakePool() {
    auto pool = device::DevicePool::Open(*device::RuntimeDir::Open(options_.environment),
                                         device::ProbeCpu(options_)->devices, clock_);
    EXPECT_TRUE(pool.ok());
    return std::move(pool).value();
  }

  std::string root_;
  std::map<std::string, std::string> variables_;
  device::ProbeOptions options_;
  FakeFileSystem fs_;
  FakeClock clock_{1'700'000'000'000'000'000};
  FakeOutput out_;
  Context context_{fs_, clock_, out_};
};

TEST_F(DevicesTest, ListsWhatThereIsAndWhyTheRestIsNot) {
  EXPECT_EQ(Run({}), kExitDone);
  EXPECT_THAT(out_.data, AllOf(HasSubstr("cpu:0"), HasSubstr("cpu:1"), HasSubstr("nobody"),
                               HasSubstr("good")));
  EXPECT_THAT(out_.notes, AllOf(HasSubstr("no cuda device: "), HasSubstr("cannot be loaded"),
                                HasSubstr("no rocm device: "), HasSubstr("no ascend device: ")));
}

TEST_F(DevicesTest, ABackendWithoutDevicesIsAFailureThatSaysWhy) {
  EXPECT_EQ(Run({"--backend", "cuda"}), kExitEnvironment);
  EXPECT_THAT(out_.failures, HasSubstr("no cuda device: "));
  EXPECT_EQ(out_.data, "");
  EXPECT_EQ(Run({"--backend", "tpu"}), kExitUsage);
}

TEST_F(DevicesTest, TellsWhoHoldsADevice) {
  const auto pool = MakePool();
  const Result<device::Lease> lease = pool->Acquire({.purpose = "verify relu"});
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(Run({"--backend", "cpu"}), kExitDone);
  EXPECT_THAT(out_.data, HasSubstr("(verify relu) since 2023-11-14"));
  const nlohmann::json document = RunJson({});
  EXPECT_EQ(document["devices"][0]["held_by"]["purpose"], "verify relu");
  EXPECT_EQ(document["devices"][0]["held_by"]["alive"], true);
  EXPECT_EQ(document["devices"][1]["held_by"], nullptr);
  EXPECT_EQ(document["absent"].size(), 3U);
}

TEST_F(DevicesTest, ShowsAndResetsADeviceThatWasSetAside) {
  ASSERT_TRUE(MakePool()->SetAside({device::Backend::kCpu, 1}, "wrong sums").ok());
  EXPECT_EQ(Run({}), kExitDone);
  EXPECT_THAT(out_.data, HasSubstr("set aside: wrong sums (until 2023-11-14 23:13:20 UTC)"));
  EXPECT_EQ(RunJson({})["devices"][1]["reason"], "wrong sums");
  EXPECT_EQ(Run({"--reset", "cpu:1"}), kExitDone);
  EXPECT_EQ(out_.data, "cpu:1 may be used again\n");
  EXPECT_EQ(Run({"--reset", "cpu:1"}), kExitDone);
  EXPECT_EQ(out_.data, "cpu:1 was not set aside\n");
  EXPECT_EQ(RunJson({})["devices"][1]["health"], "good");
}

TEST_F(DevicesTest, ResettingAnUnknownDeviceIsAnError) {
  EXPECT_EQ(Run({"--reset", "cpu:7"}), kExitUsage);
  EXPECT_THAT(out_.failures, HasSubstr("there is no device cpu:7"));
  EXPECT_EQ(Run({"--reset", "7"}), kExitUsage);
  EXPECT_THAT(out_.failures, HasSubstr("write it like cuda:0"));
}

TEST_F(DevicesTest, ABadListIsAnErrorThatNamesTheVariable) {
  variables_["AIKG_DEVICES_LIST"] = "0,one";
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(out_.failures, HasSubstr("AIKG_DEVICES_LIST='0,one': 'one' is neither"));
}

TEST_F(DevicesTest, TellsWhatTheListChooses) {
  variables_["KERF_DEVICES"] = "cpu:1";
  const nlohmann::json document = RunJson({});
  EXPECT_EQ(document["devices"][0]["chosen"], false);
  EXPECT_EQ(document["devices"][1]["chosen"], true);
  EXPECT_EQ(Run({}), kExitDone);
  EXPECT_THAT(out_.notes, HasSubstr("KERF_DEVICES='cpu:1' chooses cpu:1"));
}

TEST_F(DevicesTest, ListsHardwareAlsoWithoutASafeDirectory) {
  variables_["KERF_DEVICE_DIR"] = "relative";
  EXPECT_EQ(Run({}), kExitDone);
  EXPECT_THAT(out_.data, HasSubstr("cpu:1"));
  EXPECT_THAT(out_.notes, HasSubstr("who holds what is unknown: the device directory must be"));
  EXPECT_EQ(Run({"--reset", "cpu:0"}), kExitUsage);
}

}  // namespace
}  // namespace kerf::cli
