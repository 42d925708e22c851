#include "replay/args/arg_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::args {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KernelArgs Parsed(const std::string& text) {
  auto args = ParseArgSpec("s.json", "/specs", text);
  EXPECT_TRUE(args.ok()) << (args.ok() ? "" : args.error().message);
  return args.ok() ? *args : KernelArgs{};
}

std::string Refused(const std::string& arg) {
  const auto args = ParseArgSpec("s.json", "", R"({"args":[)" + arg + "]}");
  return args.ok() ? "accepted" : args.error().message;
}

std::string Scalar(const std::string& members) {
  return R"({"kind":"scalar","index":2,"name":"s",)" + members + "}";
}
std::string Tensor(const std::string& members) {
  return R"({"kind":"tensor","index":0,"name":"t",)" + members + "}";
}

uint64_t Bits(const std::string& members) {
  const KernelArgs args = Parsed("[" + Scalar(members) + "]");
  return args.args.empty() ? 0xBAD : args.args[0].scalar()->bits;
}

TEST(ArgSpec, ReadsTensorsAndScalarsSortedBySlot) {
  const KernelArgs args = Parsed(R"({"args":[
    {"kind":"scalar","index":2,"name":"eps","dtype":"FLOAT32_BITS","value":0.125,"pack_mode":"bits"},
    {"kind":"tensor","index":0,"name":"x","dtype":"FLOAT16","shape":[4,64]},
    {"kind":"tensor","index":1,"name":"y","dtype":"FLOAT32","shape":[4],"role":"output"}]})");
  ASSERT_EQ(args.args.size(), 3U);
  EXPECT_EQ(args.args[0].slot, 0);
  EXPECT_EQ(args.args[0].tensor()->type, ArgType::kFloat16);
  EXPECT_THAT(args.args[0].tensor()->strides, ElementsAre(64, 1));
  EXPECT_EQ(args.args[1].tensor()->role, ArgRole::kOutput);
  EXPECT_EQ(args.args[2].scalar()->bits, 0x3E000000U);
}

TEST(ArgSpec, TakesABareList) {
  EXPECT_EQ(Parsed("[" + Tensor(R"("dtype":"int8","shape":[1])") + "]").args.size(), 1U);
}

TEST(ArgSpec, RefusesAnythingElse) {
  EXPECT_THAT(ParseArgSpec("s.json", "", "3").error().message, HasSubstr("must be a list"));
  EXPECT_THAT(ParseArgSpec("s.json", "", R"({"arguments":[]})").error().message,
              HasSubstr("unknown member \"arguments\""));
  EXPECT_THAT(ParseArgSpec("s.json", "", "{}").error().message, HasSubstr("\"args\" is missing"));
}

TEST(ArgSpec, FloatScalarsAreBits) {
  EXPECT_EQ(Bits(R"("dtype":"FLOAT32_BITS","value":1.0)"), 1065353216U);
  EXPECT_EQ(Bits(R"("dtype":"FLOAT32","value":1.0,"pack_mode":"bits")"), 1065353216U);
  EXPECT_EQ(Bits(R"("dtype":"FLOAT32","value":1.0)"), 1065353216U);
  EXPECT_EQ(Bits(R"("dtype":"FLOAT64_BITS","value":1.0)"), 0x3FF0000000000000U);
  EXPECT_EQ(Bits(R"("dtype":"float16","value":0.5)"), 0x3800U);
  EXPECT_EQ(Bits(R"("dtype":"UINT64","value":18446744073709551615)"), UINT64_MAX);
  EXPECT_EQ(Bits(R"("dtype":"FLOAT32","bits":"0x7fc00001")"), 0x7FC00001U);
}

TEST(ArgSpec, AWholeNumberPackedAsBitsIsTheBitsAndSaysSo) {
  const KernelArgs args =
      Parsed("[" + Scalar(R"("dtype":"FLOAT32_BITS","value":1065353216)") + "]");
  EXPECT_EQ(args.args[0].scalar()->bits, 1065353216U);
  EXPECT_THAT(args.notes,
              ElementsAre(HasSubstr("[0].value: 1065353216 is taken as the raw bits of 1.0")));
  EXPECT_EQ(Bits(R"("dtype":"FLOAT32","value":1)"), 0x3F800000U);
}

TEST(ArgSpec, FillsAndDataAreRead) {
  const auto fill = [](const std::string& members) {
    return Parsed("[" + Tensor(members) + "]").args[0].tensor()->fill_bits;
  };
  EXPECT_EQ(fill(R"("dtype":"FLOAT32","shape":[4],"fill":"one")"), 0x3F800000U);
  EXPECT_EQ(fill(R"("dtype":"INT32","shape":[4],"fill":7)"), 7U);
  EXPECT_EQ(fill(R"("dtype":"INT32","shape":[4],"fill":"zero")"), 0U);
  const KernelArgs args =
      Parsed("[" + Tensor(R"("dtype":"INT32","shape":[2,3],"data":"x.bin","data_offset":8)") + "]");
  EXPECT_EQ(args.args[0].tensor()->data, (ArgData{"/specs/x.bin", 8, 24}));
}

// Every rule, with the path it names.
TEST(ArgSpec, NamesThePathAndTheRule) {
  const std::string good = R"("dtype":"FLOAT32","shape":[4])";
  const std::pair<std::string, std::string> cases[] = {
      {R"({"kind":"scalar","index":50,"name":"s","dtype":"INT32","value":1})",
       "s.json: args[0].index: Arg index 50 exceeds max slots (50)"},
      {R"({"kind":"scalar","index":-1,"name":"s","dtype":"INT32","value":1})",
       "s.json: args[0].index: Arg index -1 exceeds max slots (50)"},
      {R"({"kind":"scalar","index":48,"name":"s","dtype":"INT32","value":1})",
       "s.json: args[0].index: Arg index 48 is reserved for context pointers (slots 48, 49)"},
      {R"({"kind":"scalar","index":49,"name":"s","dtype":"INT32","value":1})",
       "Arg index 49 is reserved"},
      {R"({"kind":"scalar","index":1.5,"name":"s"})",
       "args[0].index: must be a whole number, not 1.5"},
      {R"({"kind":"scalar","name":"s"})", "args[0]: \"index\" is missing"},
      {R"({"kind":"scalar","index":1})", "args[0]: \"name\" is missing"},
      {R"({"kind":"tile","index":1,"name":"s"})", "args[0].kind: Unknown arg kind: tile"},
      {Scalar(R"("dtype":"FLOAT128","value":1)"), "args[0].dtype: unknown dtype \"FLOAT128\""},
      {Scalar(R"("dtype":"INT32")"), "args[0]: \"value\" is missing"},
      {Scalar(R"("dtype":"INT32","value":0.5)"), "args[0].value: 0.5 is no whole number"},
      {Scalar(R"("dtype":"INT8","value":200)"), "args[0].value: 200 does not fit in INT8"},
      {Scalar(R"("dtype":"INT8","value":1,"bits":"0x1")"), "both \"value\" and \"bits\""},
      {Scalar(R"("dtype":"INT8","bits":"0x1ff")"), "0x1ff is wider than INT8"},
      {Scalar(R"("dtype":"INT8","bits":"12")"), "bits are written as \"0x3e000000\""},
      {Scalar(R"("dtype":"INT8","value":1,"pack_mode":"raw")"), "unknown pack_mode \"raw\""},
      {Scalar(R"("dtype":"INT8","value":1,"shape":[1])"), "unknown member \"shape\""},
      {Tensor(R"("dtype":"FLOAT64","shape":[4])"), "FLOAT64 is no type of tensors"},
      {Tensor(R"("dtype":"FLOAT32","shape":[])"), "0 dimensions; 1 to 5"},
      {Tensor(R"("dtype":"FLOAT32","shape":[1,1,1,1,1,1])"), "6 dimensions"},
      {Tensor(R"("dtype":"FLOAT32","shape":[0])"), "not positive"},
      {Tensor(R"("dtype":"FLOAT32","shape":[-4])"), "not positive"},
      {Tensor(R"("dtype":"FLOAT32","shape":[4294967295,4294967295])"), "more elements than fit"},
      {Tensor(R"("dtype":"FLOAT32","shape":["a"])"), "args[0].shape[0]: must be a whole number"},
      {Tensor(good + R"(,"strides":[1,1])"), "1 extents and 2 strides"},
      {Tensor(good + R"(,"strides":[-1])"), "must all be positive"},
      {Tensor(good + R"(,"role":"in")"), "args[0].role: unknown role \"in\""},
      {Tensor(good + R"(,"fill":"random")"), "args[0].fill: unknown fill \"random\""},
      {Tensor(good + R"(,"fill":1,"data":"x")"), "both \"fill\" and \"data\""},
      {Tensor(good + R"(,"data_offset":1)"), "\"data_offset\" without \"data\""},
      {Tensor(good + R"(,"data":"")"), "args[0].data: must name a file"},
      {Tensor(good + ",\"data\":\"x\x94\""), "args[0].data: must name a file whose path is UTF-8"},
      {Tensor(good + R"(,"data":"\ud800")"), "args[0].data: must name a file whose path is UTF-8"},
      {Tensor(good + R"(,"value":1)"), "unknown member \"value\""},
      {Tensor(good) + "," + Tensor(good),
       "args[1]: Duplicate arg index 0: also at s.json: args[0]"},
  };
  for (const auto& [arg, expected] : cases) EXPECT_THAT(Refused(arg), HasSubstr(expected)) << arg;
}

TEST(ArgSpec, WritesWhatItReads) {
  KernelArgs args;
  args.args.push_back({.slot = 0,
                       .name = "a \"b\"\n",
                       .value = TensorArg{.type = ArgType::kBFloat16,
                                          .role = ArgRole::kInOut,
                                          .shape = {8, 32},
                                          .strides = {48, 1},
                                          .start_offset = 16,
                                          .data = ArgData{"/x/y.bin", 64, 512}}});
  args.args.push_back(
      {.slot = 3,
       .name = "f",
       .value = TensorArg{
           .type = ArgType::kFloat32, .shape = {4}, .strides = {1}, .fill_bits = 0x3DB504F3}});
  uint64_t seed = 7;
  for (int slot = 4; slot < 48; ++slot) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const auto type = static_cast<ArgType>(slot % static_cast<int>(kArgTypeCount));
    const uint64_t bits = seed >> (64 - 8 * ArgTypeBytes(type));
    args.args.push_back({.slot = slot, .name = "s", .value = ScalarArg{type, bits}});
  }
  const KernelArgs again = Parsed(WriteArgSpec(args));
  ASSERT_EQ(again.args.size(), args.args.size());
  for (size_t i = 0; i < args.args.size(); ++i) {
    EXPECT_EQ(again.args[i].slot, args.args[i].slot);
    EXPECT_EQ(again.args[i].name, args.args[i].name);
    EXPECT_TRUE(again.args[i].value == args.args[i].value) << WriteArgSpec(args);
  }
}

}  // namespace
}  // namespace kerf::args
