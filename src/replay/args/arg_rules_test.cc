#include "replay/args/arg_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"

namespace kerf::args {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KernelArg Tensor(int slot, ArgType type, std::vector<int64_t> shape) {
  const std::vector<int64_t> strides = ContiguousStrides(shape);
  return {.slot = slot,
          .name = "t",
          .origin = "o",
          .value = TensorArg{.type = type, .shape = shape, .strides = strides}};
}
KernelArg Scalar(int slot, ArgType type, uint64_t bits) {
  return {.slot = slot, .name = "s", .origin = "o", .value = ScalarArg{type, bits}};
}
ReplayKernel Reads(std::set<int> slots) {
  return {.name = "K", .members = {{.facts = {.slots = std::move(slots)}}}};
}

class ArgRules : public ::testing::Test {
 protected:
  std::string Why(const KernelArgs& args, const ReplayKernel& kernel = Reads({}),
                  Platform platform = Platform::kA2A3) {
    const Status status = CheckArgs(fs_, args, kernel, platform, "arg spec s.json");
    return status.ok() ? "right" : status.error().message;
  }
  FakeFileSystem fs_;
};

TEST_F(ArgRules, EveryLiteralSlotMustBeCovered) {
  const KernelArgs args{.args = {Scalar(0, ArgType::kInt32, 1)}};
  EXPECT_EQ(Why(args, Reads({0, 48, 49})), "right");
  EXPECT_THAT(
      Why(args, Reads({0, 3, 5})),
      HasSubstr(
          "arg spec s.json: args: Argument recipe for K does not cover args indices: [3, 5]"));
}

TEST_F(ArgRules, SlotsAreInRangeAndOnce) {
  EXPECT_THAT(Why({.args = {Scalar(50, ArgType::kInt32, 1)}}), HasSubstr("exceeds max slots (50)"));
  EXPECT_THAT(Why({.args = {Scalar(48, ArgType::kInt32, 1)}}), HasSubstr("is reserved"));
  EXPECT_THAT(Why({.args = {Scalar(1, ArgType::kInt32, 1), Scalar(1, ArgType::kInt32, 1)}}),
              HasSubstr("Duplicate arg index 1"));
}

TEST_F(ArgRules, SmallFloatsExistOnA5Only) {
  const KernelArgs args{.args = {Tensor(0, ArgType::kFp8E4M3, {4})}};
  EXPECT_THAT(Why(args), HasSubstr("FP8E4M3FN exists on a5 only, not on a2a3"));
  EXPECT_EQ(Why(args, Reads({}), Platform::kA5), "right");
}

TEST_F(ArgRules, DataMustBeThereAndLongEnough) {
  KernelArgs args{.args = {Tensor(0, ArgType::kFloat32, {4})}};
  std::get<TensorArg>(args.args[0].value).data = ArgData{"d/x.bin", 8, 16};
  EXPECT_THAT(Why(args), HasSubstr("data file d/x.bin is not there"));
  ASSERT_TRUE(fs_.CreateDirs("d").ok());
  ASSERT_TRUE(WriteFileAtomic(fs_, "d/x.bin", std::string(20, 'x')).ok());
  EXPECT_THAT(Why(args), HasSubstr("FLOAT32[4] needs 16 bytes from offset 8; d/x.bin holds 20"));
  std::get<TensorArg>(args.args[0].value).data = ArgData{"d/x.bin", 4, 16};
  EXPECT_EQ(Why(args), "right");
  std::get<TensorArg>(args.args[0].value).data = ArgData{"d/x.bin", 0, 8};
  EXPECT_THAT(Why(args), HasSubstr("needs 16 bytes of data, not 8"));
}

TEST_F(ArgRules, SetArgRewritesAScalar) {
  KernelArgs args{.args = {Scalar(4, ArgType::kFloat32, 0), Scalar(5, ArgType::kUInt64, 3)}};
  ASSERT_TRUE(SetArg("4=0.125", args).ok());
  EXPECT_EQ(args.args[0].scalar()->bits, 0x3E000000U);
  EXPECT_TRUE(args.notes.empty());
  ASSERT_TRUE(SetArg("5=9", args).ok());
  EXPECT_THAT(args.notes, ElementsAre(HasSubstr("9 is more than the recorded 3")));
}

TEST_F(ArgRules, SetArgFillsAnIntegerTensor) {
  KernelArgs args{.args = {Tensor(1, ArgType::kInt32, {8}), Tensor(2, ArgType::kFloat32, {8})}};
  std::get<TensorArg>(args.args[0].value).data = ArgData{"x", 0, 32};
  ASSERT_TRUE(SetArg("1=33", args).ok());
  EXPECT_EQ(args.args[0].tensor()->fill_bits, 33U);
  EXPECT_FALSE(args.args[0].tensor()->data.has_value());
  EXPECT_THAT(SetArg("2=1", args).error().message, HasSubstr("is no integer tensor"));
}

TEST_F(ArgRules, SetArgRefusesNonsense) {
  KernelArgs args{.args = {Scalar(4, ArgType::kInt32, 0)}};
  for (const char* text : {"4", "=4", "4=", "x=1", "4 =1"}) {
    EXPECT_THAT(SetArg(text, args).error().message, HasSubstr("SLOT=VALUE")) << text;
  }
  EXPECT_THAT(SetArg("7=1", args).error().message,
              HasSubstr("no argument has this slot; there are [4]"));
  EXPECT_THAT(SetArg("4=1.5", args).error().message, HasSubstr("is no whole number"));
  EXPECT_THAT(SetArg("4=abc", args).error().message,
              HasSubstr("--set-arg 4: takes a number, true,"));
}

}  // namespace
}  // namespace kerf::args
