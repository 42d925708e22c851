#include "device/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing/variables.h"

namespace kerf::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Four GPUs behind CUDA_VISIBLE_DEVICES=4,5,6,7: index 0 is cuda:4.
std::vector<Device> FourGpus() {
  std::vector<Device> devices(4);
  for (int i = 0; i < 4; ++i) {
    devices[static_cast<size_t>(i)].id = {Backend::kCuda, i + 4};
    devices[static_cast<size_t>(i)].index = i;
  }
  return devices;
}

DeviceList Read(std::map<std::string, std::string> variables) {
  const auto list = ReadDeviceList(Variables(std::move(variables)));
  EXPECT_TRUE(list.ok()) << list.error().message;
  EXPECT_TRUE(list->has_value());
  return list->value_or(DeviceList{});
}

std::vector<int> Numbers(const Result<std::vector<Device>>& devices) {
  EXPECT_TRUE(devices.ok()) << devices.error().message;
  std::vector<int> numbers;
  for (const Device& device : *devices) numbers.push_back(device.id.number);
  return numbers;
}

TEST(DeviceList, NothingIsSet) {
  const auto list = ReadDeviceList(Variables({{"KERF_DEVICES", " "}}));
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->has_value());
}

TEST(DeviceList, TakesTheFirstVariableThatIsSet) {
  EXPECT_EQ(Read({{"KERF_DEVICES", "1"}, {"AIKG_DEVICES_LIST", "2"}}).variable, "KERF_DEVICES");
  EXPECT_EQ(Read({{"KERF_DEVICES", ""}, {"AIKG_DEVICES_LIST", "2"}}).variable, "AIKG_DEVICES_LIST");
  EXPECT_EQ(Read({{"AKG_AGENTS_DEVICES_LIST", "3"}}).indexes, std::vector<int>{3});
}

TEST(DeviceList, AllowsSpaces) {
  EXPECT_THAT(Read({{"AIKG_DEVICES_LIST", " 0, 1 ,2 "}}).indexes, ElementsAre(0, 1, 2));
}

TEST(DeviceList, NumbersAreTheRunTimesAndIdsTheMachines) {
  const DeviceList list = Read({{"KERF_DEVICES", "2, cuda:4"}});
  EXPECT_THAT(Numbers(Choose(list, Backend::kCuda, FourGpus())), ElementsAre(6, 4));
  EXPECT_TRUE(list.Chooses(FourGpus()[0]));
  EXPECT_FALSE(list.Chooses(FourGpus()[1]));
}

TEST(DeviceList, ADeviceNamedInBothWaysIsTakenOnce) {
  const DeviceList list = Read({{"KERF_DEVICES", "0,cuda:4"}});
  EXPECT_THAT(Numbers(Choose(list, Backend::kCuda, FourGpus())), ElementsAre(4));
}

TEST(DeviceList, NumbersSayNothingAboutCpuSlots) {
  std::vector<Device> slots(2);
  slots[1].id.number = 1;
  slots[1].index = 1;
  EXPECT_EQ(Numbers(Choose(Read({{"AIKG_DEVICES_LIST", "5"}}), Backend::kCpu, slots)).size(), 2U);
  EXPECT_THAT(Numbers(Choose(Read({{"KERF_DEVICES", "5,cpu:1"}}), Backend::kCpu, slots)),
              ElementsAre(1));
}

TEST(DeviceList, ABadPartIsNamedWithItsVariable) {
  for (const char* value :
       {"0,x", "0,,1", "0;1", "-1", "1.5", "0,0", "99999999999", "gpu:1", "cuda:0,cuda:0", ","}) {
    const auto list = ReadDeviceList(Variables({{"AIKG_DEVICES_LIST", value}}));
    ASSERT_FALSE(list.ok()) << value;
    EXPECT_EQ(list.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(list.error().message,
                HasSubstr("AIKG_DEVICES_LIST='" + std::string(value) + "': '"));
  }
  EXPECT_THAT(ReadDeviceList(Variables({{"KERF_DEVICES", "0,x"}})).error().message,
              HasSubstr("'x' is neither a number nor an id"));
}

TEST(DeviceList, ADeviceThatIsNotThereIsAnError) {
  const auto chosen = Choose(Read({{"AIKG_DEVICES_LIST", "0,4"}}), Backend::kCuda, FourGpus());
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(chosen.error().message,
              HasSubstr("AIKG_DEVICES_LIST='0,4': there is no cuda device 4"));
}

}  // namespace
}  // namespace kerf::device
