// The text of CUDA contractions. That it computes the right thing is checked by `kerf verify` on
// the emulator and on a GPU; here: which kernel is chosen, what it is made of, what is refused.
#include "synth/cuda_contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "synth/contraction_testing.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Epilogue StoreInto(int64_t rows, int64_t cols) {
  Epilogue epilogue;
  epilogue.parameters = {{"float*", "y_out"}};
  epilogue.store = [=](const OutputSite& at) {
    return "y_out[(" + at.batch + " * " + Number(rows) + " + " + at.row + ") * " + Number(cols) +
           " + " + at.col + "] = " + at.value + ";";
  };
  return epilogue;
}

std::string Emitted(int64_t m, int64_t n, int64_t k, bool a, bool b, DType dtype,
                    const CudaTarget& target = {}) {
  return EmitCudaMatmul(PlainMatmul(1, m, n, k, a, b, dtype), "Product", StoreInto(m, n), target)
      .value();
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(KERF_GOLDEN_DIR) + "/" + name;
  if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << path << ": KERF_UPDATE_GOLDENS=1 rewrites it";
}

TEST(CudaContractionGolden, FloatProduct) {
  ExpectGolden("cuda_product_float32.txt", Emitted(1024, 1024, 512, false, true, DType::kFloat32));
}

TEST(CudaContractionGolden, HalfProductOnTensorCores) {
  const std::string text = Emitted(4096, 4096, 4096, false, false, DType::kFloat16);
  ExpectGolden("cuda_product_float16.txt", CudaContractionPrelude(text) + text);
}

TEST(EmitCudaMatmul, UsesTensorCoresForHalfTypesOnly) {
  EXPECT_THAT(Emitted(64, 64, 64, false, false, DType::kFloat16), HasSubstr("kerf_multiply_half("));
  EXPECT_THAT(Emitted(64, 64, 64, false, false, DType::kBFloat16),
              HasSubstr("kerf_multiply_bfloat("));
  EXPECT_THAT(Emitted(64, 64, 64, false, false, DType::kFloat32), Not(HasSubstr("kerf_multiply")));
  EXPECT_THAT(Emitted(64, 64, 64, false, false, DType::kFloat16, {.tensor_cores = false}),
              Not(HasSubstr("kerf_multiply")));
}

TEST(EmitCudaMatmul, CopiesInTheBackgroundOnlyWhatIsAligned) {
  EXPECT_THAT(Emitted(64, 64, 64, false, false, DType::kFloat16), HasSubstr("kerf_copy_async("));
  EXPECT_THAT(Emitted(64, 63, 63, false, false, DType::kFloat16),
              Not(HasSubstr("kerf_copy_async(")));
}

TEST(EmitCudaMatmul, TakesSmallerTilesWhereLargeOnesLeaveProcessorsIdle) {
  const std::string large = Emitted(4096, 4096, 64, false, false, DType::kFloat32);
  const std::string small = Emitted(512, 512, 64, false, false, DType::kFloat32);
  EXPECT_THAT(large, HasSubstr("kTileRows = 128"));
  EXPECT_THAT(small, HasSubstr("kTileRows = 64"));
}

TEST(CudaContractionPrelude, HasInlinePtxOnlyForTensorCores) {
  const std::string plain = Emitted(64, 64, 64, false, false, DType::kFloat32);
  const std::string half = Emitted(64, 64, 64, true, false, DType::kFloat16);
  EXPECT_THAT(CudaContractionPrelude(plain), Not(HasSubstr("asm")));
  EXPECT_THAT(CudaContractionPrelude(half), HasSubstr("mma.sync"));
  EXPECT_THAT(CudaContractionPrelude(half, {.emulated = true}), Not(HasSubstr("asm")));
}

TEST(EmitCudaConv, ReadsTheImageInPlace) {
  ConvSpec spec;
  spec.in_channels = 3;
  spec.out_channels = 8;
  spec.input = {9, 9};
  spec.kernel = {3, 3};
  const auto text = EmitCudaConv(spec, "Convolve", StoreInto(8, 49));
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("if (at0 < 0 || at0 >= 9) return 0;"));
  spec.groups = 2;
  EXPECT_FALSE(EmitCudaConv(spec, "Convolve", StoreInto(8, 49)).ok());
}

}  // namespace
}  // namespace kerf::synth
