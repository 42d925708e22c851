#include "loop/verify/null_baselines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/verify/verify_testing.h"

namespace kerf::verify {
namespace {

std::vector<std::string> Passing(const Expected& expected,
                                 const std::vector<NamedView>& others = {}) {
  std::vector<std::string> names;
  for (const NullBaseline& null :
       RunNullBaselines(expected, Budget::Make(expected, 1), others, 1)) {
    if (null.passes()) names.push_back(null.name);
  }
  return names;
}

TEST(NullBaselines, AllFailOnAnOrdinaryOutput) {
  const std::vector<double> values = Normal(5000, 1);
  const OwnedTensor oracle(DType::kFloat64, {50, 100}, values);
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3,
                            DType::kFloat8E5M2}) {
    const OwnedTensor reference(dtype, {50, 100}, values);
    const OwnedTensor input(dtype, {50, 100}, Normal(5000, 2));
    const OwnedTensor other_shape(dtype, {100, 50});
    const Expected expected{reference.view(), oracle.view()};
    EXPECT_THAT(Passing(expected, {{"x", input.view()}, {"y", other_shape.view()}}),
                testing::IsEmpty());
    const auto all =
        RunNullBaselines(expected, Budget::Make(expected, 1), {{"x", input.view()}}, 1);
    EXPECT_EQ(all.size(), 6U);
    EXPECT_EQ(all.back().name, "copy of x");
  }
}

// Small outputs are where fixed tolerances accept anything.
TEST(NullBaselines, AllFailOnASmallOutput) {
  const std::vector<double> values = Normal(5000, 1, 1e-5);
  const OwnedTensor oracle(DType::kFloat64, {5000}, values);
  const OwnedTensor reference(DType::kFloat32, {5000}, values);
  EXPECT_THAT(Passing({reference.view(), oracle.view()}), testing::IsEmpty());
  EXPECT_THAT(Passing({reference.view()}), testing::IsEmpty());
}

TEST(NullBaselines, NamesTheOneThatPasses) {
  const OwnedTensor zeros(DType::kFloat32, {100});
  const OwnedTensor oracle(DType::kFloat64, {100});
  EXPECT_THAT(Passing({zeros.view(), oracle.view()}),
              testing::UnorderedElementsAre("zeros", "mean", "shifted", "first half only"));
  const OwnedTensor reference(DType::kFloat32, {100}, Normal(100, 1));
  EXPECT_THAT(Passing({reference.view()}, {{"x", reference.view()}}),
              testing::ElementsAre("copy of x"));
}

TEST(NullBaselines, OneNumberIsNotCaughtByBeingItsOwnMean) {
  const OwnedTensor loss(DType::kFloat32, {}, std::vector<double>{0.7});
  EXPECT_THAT(Passing({loss.view()}), testing::IsEmpty());
}

TEST(NullBaselines, IntegersAndComplexAndEmpty) {
  OwnedTensor counts(DType::kInt32, {50});
  for (int64_t i = 0; i < 50; ++i) counts.Set(i, static_cast<double>(i * 7 % 31));
  EXPECT_THAT(Passing({counts.view()}), testing::IsEmpty());
  const OwnedTensor complex(DType::kComplex64, {50}, Normal(100, 1));
  EXPECT_THAT(Passing({complex.view()}), testing::IsEmpty());
  const OwnedTensor empty(DType::kFloat32, {0});
  EXPECT_THAT(Passing({empty.view()}), testing::IsEmpty());
}

}  // namespace
}  // namespace kerf::verify
