// Emitted contractions compiled, run under sanitizers and compared with plain loops.
#include <gtest/gtest.h>

#include "synth/contraction_matmul.h"
#include "synth/contraction_testing.h"

namespace kerf::synth {
namespace {

std::string Numbered(const std::string& word, size_t index) { return word + std::to_string(index); }

// Runs the cases that `make` gives for a target, for the compiler's vector width and a narrower
// one.
template <typename Make>
void ExpectRight(const Make& make) {
  for (const int bytes : {0, 32}) {
    const CpuTarget target{.vector_bytes = bytes};
    const std::string trouble = RunCases(make(target), target);
    if (trouble.rfind("skipped", 0) == 0) GTEST_SKIP() << trouble;
    EXPECT_EQ(trouble, "") << "vectors of " << bytes << " bytes (0: the compiler's)";
  }
}

TEST(EmittedMatmul, IsRightForEveryLayoutAndOddSizes) {
  const int64_t sizes[][3] = {{33, 47, 29}, {64, 16, 130}, {130, 97, 5}, {17, 300, 64}};
  ExpectRight([&](const CpuTarget& target) {
    std::vector<CheckedCase> cases;
    for (const auto& [m, n, k] : sizes) {
      for (const int layout : {0, 1, 2, 3}) {
        const MatmulSpec spec =
            PlainMatmul(1 + layout % 2, m, n, k, layout / 2 == 1, layout % 2 == 1, DType::kFloat32);
        cases.push_back(CheckedMatmul(spec, Numbered("Layout", cases.size()), target));
      }
    }
    return cases;
  });
}

TEST(EmittedMatmul, IsRightForEveryType) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<CheckedCase> cases;
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                              DType::kInt32, DType::kInt64}) {
      cases.push_back(CheckedMatmul(PlainMatmul(2, 37, 41, 53, false, true, dtype),
                                    Numbered("Type", cases.size()), target));
      cases.push_back(CheckedMatmul(PlainMatmul(1, 2, 70, 9, false, false, dtype),
                                    Numbered("Type", cases.size()), target));
    }
    return cases;
  });
}

TEST(EmittedMatmul, IsRightForSizesZeroAndOne) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<CheckedCase> cases;
    for (int mask = 0; mask < 27; ++mask) {
      const int64_t sizes[] = {0, 1, 21};
      const MatmulSpec spec =
          PlainMatmul(mask % 4 == 0 ? 0 : 1, sizes[mask % 3], sizes[mask / 3 % 3], sizes[mask / 9],
                      mask % 2 == 0, mask % 5 < 2, DType::kFloat32);
      cases.push_back(CheckedMatmul(spec, Numbered("Small", cases.size()), target));
    }
    return cases;
  });
}

TEST(EmittedMatmul, IsRightForNarrowAndDeepProducts) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<CheckedCase> cases;
    for (const int layout : {0, 1, 2, 3}) {
      const bool a = layout / 2 == 1;
      const bool b = layout % 2 == 1;
      for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 333, 35},
                                    {333, 1, 35},
                                    {3, 70, 4},
                                    {70, 4, 19},
                                    {3, 2, 5003},
                                    {20, 20, 4999},
                                    {1, 1, 6000}}) {
        cases.push_back(CheckedMatmul(PlainMatmul(1, m, n, k, a, b, DType::kFloat32),
                                      Numbered("Narrow", cases.size()), target));
      }
    }
    return cases;
  });
}

TEST(EmittedMatmul, IsRightForTriangularAndDiagonalOperands) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<CheckedCase> cases;
    for (const Structure a :
         {Structure::kFull, Structure::kLower, Structure::kUpper, Structure::kDiagonal}) {
      for (const Structure b :
           {Structure::kFull, Structure::kLower, Structure::kUpper, Structure::kDiagonal}) {
        MatmulSpec spec = PlainMatmul(1, 300, 280, 290, false, false, DType::kInt32);
        spec.a.structure = a;
        spec.b.structure = b;
        cases.push_back(CheckedMatmul(spec, Numbered("Structured", cases.size()), target));
      }
    }
    return cases;
  });
}

TEST(EmittedMatmul, SharesOperandsAlongBroadcastBatches) {
  ExpectRight([&](const CpuTarget& target) {
    MatmulSpec spec = PlainMatmul(1, 9, 20, 11, false, false, DType::kFloat32);
    spec.batch = {2, 3, 2};
    spec.a.batch_strides = {2 * 99, 0, 99};  // of [2, 1, 2, 9, 11]
    spec.b.batch_strides = {0, 220, 0};      // of [3, 1, 11, 20]
    MatmulSpec shared = PlainMatmul(5, 9, 20, 11, false, true, DType::kFloat32);
    shared.b.batch_strides = {0};  // folded into one product of 45 rows
    MatmulSpec rows = PlainMatmul(7, 1, 20, 11, false, false, DType::kFloat32);
    rows.batch = {7, 1};
    rows.a.batch_strides = {11, 77};
    rows.b.batch_strides = {0, 0};
    return std::vector<CheckedCase>{CheckedMatmul(spec, "Broadcast", target),
                                    CheckedMatmul(shared, "Shared", target),
                                    CheckedMatmul(rows, "Rows", target)};
  });
}

TEST(EmittedMatmul, ReadsOperandsThroughTheCallersText) {
  ExpectRight([&](const CpuTarget& target) {
    MatmulSpec spec = PlainMatmul(2, 30, 40, 50, false, false, DType::kFloat32);
    const auto read = [](const std::string& pointer, int64_t rows, int64_t cols) {
      return [=](const std::string& batch, const std::string& row, const std::string& col) {
        return pointer + "[(" + batch + " * " + std::to_string(rows) + " + " + row + ") * " +
               std::to_string(cols) + " + " + col + "] + 0 * bias_of_row[0]";
      };
    };
    spec.a.load = read("a", 30, 50);
    spec.b.load = read("b", 50, 40);
    return std::vector<CheckedCase>{CheckedMatmul(spec, "Loaded", target)};
  });
}

ConvSpec Conv(int dims, int64_t batch, int64_t channels, int64_t filters, int64_t groups,
              std::array<int64_t, 3> input, int64_t kernel, int64_t stride, int64_t padding,
              int64_t dilation) {
  ConvSpec spec;
  spec.dims = dims;
  spec.batch = batch;
  spec.in_channels = channels;
  spec.out_channels = filters;
  spec.groups = groups;
  spec.input = input;
  spec.kernel.fill(kernel);
  spec.stride.fill(stride);
  spec.padding.fill(padding);
  spec.dilation.fill(dilation);
  return spec;
}

TEST(EmittedConv, IsRightForwardInOneToThreeDimensions) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<ConvSpec> specs = {
        Conv(1, 2, 3, 5, 1, {700}, 5, 1, 2, 1),     Conv(1, 1, 4, 4, 2, {23}, 3, 3, 0, 2),
        Conv(2, 2, 3, 17, 1, {13, 11}, 3, 1, 1, 1), Conv(2, 1, 6, 30, 3, {16, 9}, 3, 2, 1, 1),
        Conv(2, 3, 7, 7, 7, {14, 14}, 3, 1, 1, 1),  Conv(2, 1, 3, 8, 1, {31, 29}, 7, 2, 3, 1),
        Conv(2, 2, 5, 33, 1, {6, 7}, 1, 1, 0, 1),   Conv(2, 2, 6, 4, 2, {6, 7}, 1, 1, 0, 1),
        Conv(2, 1, 2, 3, 1, {9, 40}, 2, 3, 2, 3),   Conv(3, 1, 2, 15, 1, {5, 6, 7}, 3, 1, 1, 1),
        Conv(3, 2, 4, 2, 2, {4, 9, 5}, 2, 2, 1, 1), Conv(2, 1, 1, 1, 1, {1, 1}, 1, 1, 0, 1),
        Conv(2, 1, 1, 1, 1, {2, 2}, 5, 1, 0, 1),    Conv(2, 0, 1, 1, 1, {4, 4}, 3, 1, 0, 1),
        Conv(1, 1, 1024, 3, 1, {40}, 1, 2, 0, 1),
    };
    std::vector<CheckedCase> cases;
    for (const ConvSpec& spec : specs) {
      cases.push_back(CheckedConv(spec, Numbered("Forward", cases.size()), target));
    }
    return cases;
  });
}

TEST(EmittedConv, IsRightTransposed) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<ConvSpec> specs = {
        Conv(1, 2, 3, 5, 1, {50}, 4, 2, 1, 1),   Conv(2, 2, 3, 17, 1, {7, 6}, 4, 2, 1, 1),
        Conv(2, 1, 6, 4, 2, {5, 9}, 3, 3, 0, 2), Conv(2, 1, 2, 3, 1, {5, 5}, 2, 3, 0, 1),
        Conv(2, 1, 5, 6, 1, {8, 8}, 1, 1, 0, 1), Conv(3, 1, 2, 3, 1, {3, 4, 5}, 3, 2, 1, 1),
        Conv(2, 1, 4, 4, 4, {6, 6}, 3, 1, 1, 1),
    };
    std::vector<CheckedCase> cases;
    for (ConvSpec& spec : specs) {
      spec.transposed = true;
      if (spec.stride[0] > 1) spec.output_padding[0] = 1;
      cases.push_back(CheckedConv(spec, Numbered("Transposed", cases.size()), target));
    }
    return cases;
  });
}

TEST(EmittedConv, IsRightForEveryType) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<CheckedCase> cases;
    for (const DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt32}) {
      ConvSpec spec = Conv(2, 1, 3, 6, 1, {9, 10}, 3, 1, 1, 1);
      spec.dtype = dtype;
      spec.accumulate = DTypeBytes(dtype) == 2 ? DType::kFloat32 : dtype;
      cases.push_back(CheckedConv(spec, Numbered("Type", cases.size()), target));
    }
    return cases;
  });
}

TEST(EmittedAttention, IsRightWithMasksAndOddSizes) {
  ExpectRight([&](const CpuTarget& target) {
    std::vector<AttentionSpec> specs = {
        PlainAttention(2, 33, 17, 8, 65, DType::kFloat32),
        PlainAttention(1, 70, 300, 16, 16, DType::kFloat32),
        PlainAttention(1, 1, 1, 1, 1, DType::kFloat32),
        PlainAttention(3, 40, 270, 7, 5, DType::kFloat64),
        PlainAttention(2, 20, 19, 24, 32, DType::kFloat16),
        PlainAttention(2, 5, 0, 4, 4, DType::kFloat32),
    };
    std::vector<CheckedCase> cases;
    for (const AttentionSpec& plain : specs) {
      for (const int variant : {0, 1, 2, 3}) {
        AttentionSpec spec = plain;
        spec.causal = variant == 3;
        if (variant == 1) spec.mask = AttentionSpec::Mask::kAdded;
        if (variant == 2) spec.mask = AttentionSpec::Mask::kKept;
        spec.mask_operand = {variant == 2 ? DType::kBool : DType::kFloat32, {0}, spec.keys, 1};
        cases.push_back(CheckedAttention(spec, Numbered("Attend", cases.size()), target));
      }
    }
    return cases;
  });
}

}  // namespace
}  // namespace kerf::synth
