#include "synth/contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "synth/contraction_matmul.h"
#include "synth/contraction_testing.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

Epilogue StoreInto(int64_t rows, int64_t cols) {
  Epilogue epilogue;
  epilogue.parameters = {{"float*", "y_out"}};
  epilogue.store = [=](const OutputSite& at) {
    return "y_out[(" + at.batch + " * " + Number(rows) + " + " + at.row + ") * " + Number(cols) +
           " + " + at.col + "] = " + at.value + ";";
  };
  return epilogue;
}

// Compares with test/golden/synth_contraction/NAME. KERF_UPDATE_GOLDENS=1 writes the file instead.
void ExpectGolden(const std::string& name, const Result<std::string>& emitted) {
  ASSERT_TRUE(emitted.ok()) << emitted.error().message;
  const std::string path = std::string(KERF_GOLDEN_DIR) + "/" + name;
  if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << *emitted;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(*emitted, golden.str()) << path << ": KERF_UPDATE_GOLDENS=1 rewrites it";
}

TEST(ContractionGolden, Prelude) { ExpectGolden("prelude.txt", ContractionPrelude()); }

TEST(ContractionPrelude, LeavesOutWhatNoFunctionUses) {
  const std::string all = ContractionPrelude();
  EXPECT_THAT(all, ::testing::HasSubstr("ConvolveTile"));
  EXPECT_THAT(all, ::testing::HasSubstr("ExpOfNegative"));
  const auto product =
      EmitMatmul(PlainMatmul(1, 64, 64, 64, false, false, DType::kFloat32), "F", StoreInto(64, 64));
  const std::string some = ContractionPrelude({}, product.value());
  EXPECT_THAT(some, ::testing::HasSubstr("MultiplyTile"));
  EXPECT_THAT(some, ::testing::Not(::testing::HasSubstr("ConvolveTile")));
  EXPECT_THAT(some, ::testing::Not(::testing::HasSubstr("ExpOfNegative")));
  EXPECT_THAT(some, ::testing::Not(::testing::HasSubstr("FromHalf")));
}

TEST(ContractionGolden, LinearWithBiasAndRelu) {
  MatmulSpec spec = PlainMatmul(1, 128, 256, 512, false, true, DType::kFloat32);
  Epilogue epilogue;
  epilogue.parameters = {{"const float*", "bias_in"}, {"float*", "y_out"}};
  epilogue.store = [](const OutputSite& at) {
    return "const float sum = " + at.value + " + bias_in[" + at.col + "];\ny_out[" + at.row +
           " * 256 + " + at.col + "] = sum > 0.0f ? sum : 0.0f;";
  };
  ExpectGolden("linear_relu.txt", EmitMatmul(spec, "Linear", epilogue));
}

TEST(ContractionGolden, ConvolutionWithBias) {
  ConvSpec spec;
  spec.batch = 8;
  spec.in_channels = spec.out_channels = 64;
  spec.input = {56, 56};
  spec.kernel = {3, 3};
  spec.padding = {1, 1};
  Epilogue epilogue = StoreInto(64, 56 * 56);
  epilogue.parameters.push_back({"const float*", "bias_in"});
  epilogue.before_row = [](const OutputSite& at) {
    return "const float shift = bias_in[" + at.row + "];";
  };
  const auto store = epilogue.store;
  epilogue.store = [store](OutputSite at) {
    at.value += " + shift";
    return store(at);
  };
  ExpectGolden("conv_bias.txt", EmitConv(spec, "Convolve", epilogue));
}

TEST(ContractionGolden, CausalAttention) {
  AttentionSpec spec = PlainAttention(16, 1024, 1024, 64, 64, DType::kFloat32);
  spec.causal = true;
  ExpectGolden("attention_causal.txt", EmitAttention(spec, "Attend", StoreInto(1024, 64)));
}

TEST(ChooseMatmulForm, FollowsShapeAndLayout) {
  const auto form = [](int64_t m, int64_t n, int64_t k, bool a, bool b) {
    return ChooseMatmulForm(PlainMatmul(1, m, n, k, a, b, DType::kFloat32));
  };
  EXPECT_EQ(form(64, 64, 64, false, false), MatmulForm::kBlocked);
  EXPECT_EQ(form(1, 64, 64, false, false), MatmulForm::kStreamB);
  EXPECT_EQ(form(1, 64, 64, false, true), MatmulForm::kDotB);
  EXPECT_EQ(form(64, 1, 64, true, false), MatmulForm::kStreamA);
  EXPECT_EQ(form(64, 1, 64, false, false), MatmulForm::kDotA);
  EXPECT_EQ(form(0, 1, 64, false, false), MatmulForm::kNothing);
  EXPECT_EQ(form(1, 1, 0, false, false), MatmulForm::kZero);
}

TEST(ChooseDepthChunks, SplitsLongSumsOfFewOutputsOnly) {
  const auto chunks = [](int64_t m, int64_t n, int64_t k) {
    const MatmulSpec spec = PlainMatmul(1, m, n, k, false, false, DType::kFloat32);
    return ChooseDepthChunks(spec, ChooseMatmulForm(spec));
  };
  EXPECT_EQ(chunks(16, 16, 200000), 16);
  EXPECT_EQ(chunks(16, 16, 1000), 1);
  EXPECT_EQ(chunks(1024, 1024, 200000), 1);
}

TEST(EmitMatmul, RefusesWhatIsNoProduct) {
  MatmulSpec spec = PlainMatmul(1, 2, 2, 2, false, false, DType::kFloat32);
  spec.a.dtype = DType::kComplex64;
  EXPECT_THAT(EmitMatmul(spec, "F", StoreInto(2, 2)).error().message,
              ::testing::HasSubstr("complex64"));
  spec = PlainMatmul(1, 2, 2, 2, false, false, DType::kFloat32);
  spec.b.batch_strides = {};
  EXPECT_THAT(EmitMatmul(spec, "F", StoreInto(2, 2)).error().message,
              ::testing::HasSubstr("batch strides"));
}

TEST(EmitMatmul, RefusesParametersNamedAsItsOwnVariables) {
  Epilogue epilogue = StoreInto(2, 2);
  epilogue.parameters.push_back({"const float*", "row"});
  const auto emitted =
      EmitMatmul(PlainMatmul(1, 2, 2, 2, false, false, DType::kFloat32), "F", epilogue);
  ASSERT_FALSE(emitted.ok());
  EXPECT_THAT(emitted.error().message, ::testing::HasSubstr("'row'"));
}

TEST(EmitConv, RefusesGroupsThatDoNotDivideTheChannels) {
  ConvSpec spec;
  spec.in_channels = 3;
  spec.out_channels = 4;
  spec.groups = 2;
  EXPECT_THAT(EmitConv(spec, "F", StoreInto(4, 1)).error().message,
              ::testing::HasSubstr("2 groups"));
}

TEST(EmitAttention, RefusesIntegers) {
  const AttentionSpec spec = PlainAttention(1, 2, 2, 2, 2, DType::kInt32);
  EXPECT_FALSE(EmitAttention(spec, "F", StoreInto(2, 2)).ok());
}

TEST(OffsetText, CollapsesWhatIsOneDimensionInMemory) {
  EXPECT_EQ(OffsetText({}, {}, "i"), "0");
  EXPECT_EQ(OffsetText({2, 3}, {30, 10}, "i"), "i * 10");
  EXPECT_EQ(OffsetText({2, 3}, {0, 10}, "i"), "(i % 3) * 10");
  EXPECT_EQ(OffsetText({2, 3}, {10, 0}, "i"), "(i / 3) * 10");
  EXPECT_EQ(OffsetText({2, 1, 3}, {100, 7, 1}, "i"), "(i / 3) * 100 + i % 3");
}

TEST(Fill, IndentsTextThatStandsAloneAndDropsEmptyLines) {
  EXPECT_EQ(Fill("a\n  @X@\n  @Y@\nb\n", {{"X", "one;\ntwo;"}, {"Y", ""}}),
            "a\n  one;\n  two;\nb\n");
  EXPECT_EQ(Fill("f(@X@);\n", {{"X", "1"}}), "f(1);\n");
}

}  // namespace
}  // namespace kerf::synth
