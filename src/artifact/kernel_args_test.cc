#include "artifact/kernel_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "artifact/dump.h"
#include "artifact/scalar_bits.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;

uint64_t Encoded(ArgType type, const std::string& json) {
  const auto document = JsonDocument::Parse("t", json);
  EXPECT_TRUE(document.ok()) << json;
  const auto bits = EncodeScalar(type, document->root());
  EXPECT_TRUE(bits.ok()) << json << ": " << (bits.ok() ? "" : bits.error().message);
  return bits.ok() ? *bits : 0xBAD;
}

std::string Refused(ArgType type, const std::string& json) {
  const auto document = JsonDocument::Parse("t", json);
  const auto bits = EncodeScalar(type, document->root());
  return bits.ok() ? "accepted" : bits.error().message;
}

TEST(ScalarBits, FloatsAreTheBitsOfTheirOwnWidth) {
  EXPECT_EQ(Encoded(ArgType::kFloat32, "1.0"), 1065353216U);
  EXPECT_EQ(Encoded(ArgType::kFloat32, "0.125"), 0x3E000000U);
  EXPECT_EQ(Encoded(ArgType::kFloat64, "1.0"), 0x3FF0000000000000U);
  EXPECT_EQ(Encoded(ArgType::kFloat16, "1.0"), 0x3C00U);
  EXPECT_EQ(Encoded(ArgType::kBFloat16, "1.0"), 0x3F80U);
  EXPECT_EQ(Encoded(ArgType::kFloat32, "-0.0"), 0x80000000U);
  EXPECT_EQ(Encoded(ArgType::kFloat32, "1"), 0x3F800000U);
}

TEST(ScalarBits, FloatsRoundToNearestEven) {
  EXPECT_EQ(Encoded(ArgType::kFloat32, "0.0883883"), 0x3DB504EDU);
  EXPECT_EQ(Encoded(ArgType::kFloat16, "2049"), 0x6800U);     // halfway, down to even
  EXPECT_EQ(Encoded(ArgType::kFloat16, "2051"), 0x6802U);     // halfway, up to even
  EXPECT_EQ(Encoded(ArgType::kFloat16, "5.9604645e-8"), 1U);  // the smallest subnormal
  EXPECT_EQ(Encoded(ArgType::kFloat16, "65504"), 0x7BFFU);
  EXPECT_THAT(Refused(ArgType::kFloat16, "65520"), HasSubstr("does not fit in FLOAT16"));
  EXPECT_THAT(Refused(ArgType::kFloat32, "1e39"), HasSubstr("does not fit in FLOAT32"));
}

TEST(ScalarBits, AgreesWithTheCompilerOnFloat32) {
  for (double value = 1e-44; value < 1e38; value *= 7.3) {
    const auto narrow = static_cast<float>(value);
    uint32_t expected = 0;
    memcpy(&expected, &narrow, 4);
    EXPECT_EQ(FloatBits(ArgType::kFloat32, value), expected) << value;
    EXPECT_EQ(FloatOf(ArgType::kFloat32, expected), narrow) << value;
  }
}

TEST(ScalarBits, InfinityAndNanAreTexts) {
  EXPECT_EQ(Encoded(ArgType::kFloat32, "\"$Inf\""), 0x7F800000U);
  EXPECT_EQ(Encoded(ArgType::kFloat32, "\"-$Inf\""), 0xFF800000U);
  EXPECT_EQ(Encoded(ArgType::kFloat32, "\"NaN\""), 0x7FC00000U);
  EXPECT_THAT(Refused(ArgType::kFloat32, "\"many\""), HasSubstr("is no number"));
}

TEST(ScalarBits, IntegersAreZeroExtended) {
  EXPECT_EQ(Encoded(ArgType::kInt32, "-1"), 0xFFFFFFFFU);
  EXPECT_EQ(Encoded(ArgType::kInt8, "-128"), 0x80U);
  EXPECT_EQ(Encoded(ArgType::kInt64, "-1"), UINT64_MAX);
  EXPECT_EQ(Encoded(ArgType::kUInt64, "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(Encoded(ArgType::kInt32, "3.0"), 3U);
  EXPECT_EQ(Encoded(ArgType::kBool, "true"), 1U);
}

TEST(ScalarBits, RefusesWhatTheTypeCannotHold) {
  EXPECT_THAT(Refused(ArgType::kInt32, "2147483648"), HasSubstr("does not fit in INT32"));
  EXPECT_THAT(Refused(ArgType::kInt8, "-129"), HasSubstr("does not fit in INT8"));
  EXPECT_THAT(Refused(ArgType::kUInt16, "65536"), HasSubstr("does not fit in UINT16"));
  EXPECT_THAT(Refused(ArgType::kUInt32, "-1"), HasSubstr("must not be negative"));
  EXPECT_THAT(Refused(ArgType::kInt32, "0.5"), HasSubstr("is no whole number"));
  EXPECT_THAT(Refused(ArgType::kInt32, "\"3\""), HasSubstr("must be a whole number"));
  EXPECT_THAT(Refused(ArgType::kBool, "2"), HasSubstr("true, false, 1 or 0"));
  EXPECT_THAT(Refused(ArgType::kFp8E8M0, "1"), HasSubstr("takes \"bits\""));
}

TEST(ScalarBits, ALiteralReadsBackAsTheSameBits) {
  const ArgType types[] = {ArgType::kFloat32, ArgType::kFloat16, ArgType::kBFloat16,
                           ArgType::kFloat64, ArgType::kInt32,   ArgType::kInt8,
                           ArgType::kUInt64,  ArgType::kBool};
  uint64_t seed = 1;
  int literals = 0;
  for (int i = 0; i < 4000; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    for (const ArgType type : types) {
      const uint64_t bits = seed >> (64 - 8 * ArgTypeBytes(type));
      const auto literal = ScalarLiteral(type, bits);
      if (!literal) continue;  // NaNs with a payload, BOOL 7
      ++literals;
      ASSERT_EQ(Encoded(type, *literal), bits) << ArgTypeName(type) << " " << *literal;
    }
  }
  EXPECT_GT(literals, 20'000);
}

TEST(KernelArgs, ABufferReachesToTheLastElementOfTheView) {
  const TensorArg tensor{.shape = {8, 32}, .strides = {48, 1}, .start_offset = 16};
  EXPECT_EQ(tensor.buffer_bytes(), 1536U);
  EXPECT_EQ(tensor.view_bytes(), 1024U);
  EXPECT_FALSE(tensor.contiguous());
  EXPECT_EQ(DescribeTensor(tensor), "FLOAT32[8, 32] strides [48, 1] from element 16");
}

TEST(KernelArgs, TellsWhyATensorIsWrong) {
  const auto why = [](std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t start = 0) {
    return WrongTensor(
               {.shape = std::move(shape), .strides = std::move(strides), .start_offset = start})
        .value_or("right");
  };
  EXPECT_EQ(why({4}, {1}), "right");
  EXPECT_THAT(why({}, {}), HasSubstr("0 dimensions; 1 to 5"));
  EXPECT_THAT(why({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}), HasSubstr("6 dimensions"));
  EXPECT_THAT(why({4, 0}, {1, 1}), HasSubstr("not positive"));
  EXPECT_THAT(why({-4}, {1}), HasSubstr("not positive"));
  EXPECT_THAT(why({4}, {1, 1}), HasSubstr("1 extents and 2 strides"));
  EXPECT_THAT(why({4}, {0}), HasSubstr("must all be positive"));
  EXPECT_THAT(why({4}, {-1}), HasSubstr("must all be positive"));
  EXPECT_THAT(why({4}, {1}, -1), HasSubstr("start_offset -1"));
  EXPECT_THAT(why({1 << 30, 1 << 30}, {1 << 30, 1}), HasSubstr("more elements than fit"));
  EXPECT_THAT(why({1 << 20, 2}, {1 << 30, 1}), HasSubstr("reach farther than fits"));
}

TEST(KernelArgs, KnowsEveryTypeByNameInAnyCase) {
  EXPECT_EQ(ParseArgType("bfloat16"), ArgType::kBFloat16);
  EXPECT_EQ(ParseArgType("FP4E2M1"), ArgType::kFp4E2M1);
  EXPECT_EQ(ParseArgType("UNKNOWN"), std::nullopt);
  for (size_t i = 0; i < kArgTypeCount; ++i) {
    const auto type = static_cast<ArgType>(i);
    EXPECT_EQ(ParseArgType(ArgTypeName(type)), type);
    EXPECT_GT(ArgTypeBytes(type), 0U);
  }
}

TEST(Dump, ReadsTaskIdsAsNumbers) {
  EXPECT_EQ(ParseTaskId("0x0000000100000007"), 0x100000007U);
  EXPECT_EQ(ParseTaskId("11"), 0x11U);
  EXPECT_EQ(ParseTaskId("0x"), std::nullopt);
  EXPECT_EQ(ParseTaskId("task"), std::nullopt);
  EXPECT_EQ(ParseTaskId("0x1ffffffffffffffff"), std::nullopt);
}

}  // namespace
}  // namespace kerf
