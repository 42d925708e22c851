#include "loop/verify/reduction_length.h"

#include <gtest/gtest.h>

namespace kerf::verify {
namespace {

double Length(const std::vector<std::vector<int64_t>>& inputs, std::vector<int64_t> output) {
  std::vector<TensorSpec> specs;
  for (const auto& shape : inputs) specs.push_back({DType::kFloat32, shape});
  return EstimateReductionLength(specs, {DType::kFloat32, std::move(output)});
}

TEST(ReductionLength, Products) {
  EXPECT_EQ(Length({{64, 512}, {512, 128}}, {64, 128}), 512);
  EXPECT_EQ(Length({{64, 512}, {512, 128}, {128}}, {64, 128}), 512);
  EXPECT_EQ(Length({{64, 512}, {128, 512}}, {64, 128}), 512);
  EXPECT_EQ(Length({{8, 64, 512}, {8, 512, 128}}, {8, 64, 128}), 512);
  EXPECT_EQ(Length({{64, 128}, {128, 128}}, {64, 128}), 128);
  EXPECT_EQ(Length({{256, 256}, {256, 256}}, {256, 256}), 256);
  EXPECT_EQ(Length({{1, 512}, {512, 128}}, {1, 128}), 512);
  EXPECT_EQ(Length({{512}, {512}}, {}), 512);
}

TEST(ReductionLength, Convolutions) {
  EXPECT_EQ(Length({{16, 32, 56, 56}, {64, 32, 3, 3}}, {16, 64, 56, 56}), 288);
  EXPECT_EQ(Length({{16, 32, 56, 56}, {64, 32, 3, 3}, {64}}, {16, 64, 54, 54}), 288);
}

TEST(ReductionLength, Reductions) {
  EXPECT_EQ(Length({{16, 1000}}, {16}), 1000);
  EXPECT_EQ(Length({{16, 1000}}, {16, 1}), 1000);
  EXPECT_EQ(Length({{16, 1000}}, {1000}), 16);
  EXPECT_EQ(Length({{16, 1000}}, {}), 16000);
}

TEST(ReductionLength, ElementWise) {
  EXPECT_EQ(Length({{16, 1000}}, {16, 1000}), 1);
  EXPECT_EQ(Length({{16, 1000}, {16, 1000}}, {16, 1000}), 1);
  EXPECT_EQ(Length({{16, 1000}, {1000}}, {16, 1000}), 1);
  EXPECT_EQ(Length({{16, 1}, {1, 1000}}, {16, 1000}), 1);
  EXPECT_EQ(Length({{4, 1, 8}, {1, 6, 8}}, {4, 6, 8}), 1);
  EXPECT_EQ(Length({{16, 1000}, {}}, {16, 1000}), 1);
  EXPECT_EQ(Length({{4, 6}}, {24}), 1);
  EXPECT_EQ(Length({{4, 3, 8, 8}}, {4, 3, 16, 16}), 1);
}

TEST(ReductionLength, NothingIsOne) {
  EXPECT_EQ(Length({}, {16}), 1);
  EXPECT_EQ(Length({{0, 5}}, {0}), 1);
}

}  // namespace
}  // namespace kerf::verify
