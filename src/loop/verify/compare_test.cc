#include "loop/verify/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loop/verify/verify_testing.h"

namespace kerf::verify {
namespace {

using Status = Comparison::Status;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

// A reference with the oracle it was rounded from.
struct Case {
  OwnedTensor reference;
  OwnedTensor oracle;

  Case(DType dtype, const std::vector<int64_t>& shape, const std::vector<double>& values)
      : reference(dtype, shape, values),
        oracle(IsComplex(dtype) ? DType::kComplex128 : DType::kFloat64, shape, values) {}
  [[nodiscard]] Expected expected() const { return {reference.view(), oracle.view()}; }
};

TEST(Compare, TheReferenceIsIdentical) {
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                            DType::kFloat8E4M3, DType::kFloat8E5M2}) {
    const Case c(dtype, {10, 10}, Normal(100, 1));
    const Comparison result = CompareTo(c.reference, c.expected());
    EXPECT_EQ(result.status, Status::kIdentical) << DTypeName(dtype) << result.Summary();
    EXPECT_EQ(result.beyond, 0);
    EXPECT_LE(result.max_ratio, 1);
    EXPECT_TRUE(result.right());
  }
}

TEST(Compare, ShapeAndDTypeAreStrict) {
  const Case c(DType::kFloat32, {4, 5}, Normal(20, 1));
  EXPECT_EQ(CompareTo({DType::kFloat32, {5, 4}}, c.expected()).status, Status::kWrongShape);
  EXPECT_EQ(CompareTo({DType::kFloat32, {20}}, c.expected()).status, Status::kWrongShape);
  EXPECT_EQ(CompareTo({DType::kFloat32, {1, 4, 5}}, c.expected()).status, Status::kWrongShape);
  const OwnedTensor wide(DType::kFloat64, {4, 5}, Normal(20, 1));
  const Comparison result = CompareTo(wide, c.expected());
  EXPECT_EQ(result.status, Status::kWrongDType);
  EXPECT_EQ(result.Summary(), "wrong_dtype: got float64[4, 5], wanted float32[4, 5]");
}

TEST(Compare, EmptyTensorsAreRightWhenTheirShapesAre) {
  const Case c(DType::kFloat32, {0, 5}, {});
  EXPECT_TRUE(CompareTo({DType::kFloat32, {0, 5}}, c.expected()).right());
  EXPECT_EQ(CompareTo({DType::kFloat32, {5, 0}}, c.expected()).status, Status::kWrongShape);
}

TEST(Compare, Scalars) {
  const Case c(DType::kFloat32, {}, {3.5});
  EXPECT_EQ(CompareTo({DType::kFloat32, {}, {3.5}}, c.expected()).status, Status::kIdentical);
  EXPECT_EQ(CompareTo({DType::kFloat32, {}, {3.5000005}}, c.expected()).status, Status::kWithin);
  const Comparison wrong = CompareTo({DType::kFloat32, {}, {3.501}}, c.expected());
  EXPECT_EQ(wrong.status, Status::kWrongValue);
  EXPECT_EQ(wrong.where, "every element");
  ASSERT_EQ(wrong.worst.size(), 1U);
  EXPECT_EQ(wrong.worst[0].coordinates, "[]");
  EXPECT_EQ(CompareTo({DType::kFloat32, {1}, {3.5}}, c.expected()).status, Status::kWrongShape);
}

TEST(Compare, ReportsTheWrongElement) {
  const Case c(DType::kFloat32, {50, 20}, Normal(1000, 1));
  OwnedTensor candidate = c.reference;
  candidate.Set(533, 77);
  const Comparison result = CompareTo(candidate, c.expected());
  EXPECT_EQ(result.status, Status::kWrongValue);
  EXPECT_EQ(result.beyond, 1);
  EXPECT_EQ(result.elements, 1000);
  EXPECT_DOUBLE_EQ(result.share_beyond(), 0.001);
  EXPECT_EQ(result.where, "only flat index 533");
  EXPECT_EQ(result.worst[0].index, 533);
  EXPECT_EQ(result.worst[0].coordinates, "[26, 13]");
  EXPECT_EQ(result.worst[0].got, 77);
  EXPECT_EQ(result.worst[0].wanted, c.oracle.Get(533));
  EXPECT_EQ(result.worst[0].reference, c.reference.Get(533));
  EXPECT_NEAR(result.max_error, std::fabs(77 - c.oracle.Get(533)), 1e-5);
  EXPECT_LE(result.worst.size(), 10U);
  EXPECT_EQ(result.box_low, (std::vector<int64_t>{26, 13}));
}

TEST(Compare, NotFiniteMustStandWhereItBelongs) {
  const std::vector<double> values = {1, kNaN, kInf, -kInf, 2, 3};
  const Case c(DType::kFloat32, {6}, values);
  const auto with = [&](int64_t index, double value) {
    OwnedTensor candidate = c.reference;
    candidate.Set(index, value);
    return CompareTo(candidate, c.expected()).status;
  };
  EXPECT_EQ(with(0, 1), Status::kIdentical);
  EXPECT_EQ(with(0, kNaN), Status::kNonFinite);
  EXPECT_EQ(with(0, kInf), Status::kNonFinite);
  EXPECT_EQ(with(1, 0), Status::kNonFinite);
  EXPECT_EQ(with(1, kInf), Status::kNonFinite);
  EXPECT_EQ(with(2, kNaN), Status::kNonFinite);
  EXPECT_EQ(with(2, -kInf), Status::kNonFinite);
  EXPECT_EQ(with(2, 3e38), Status::kNonFinite);
  EXPECT_EQ(with(3, kInf), Status::kNonFinite);
  // Another NaN is NaN as well.
  EXPECT_EQ(with(1, -kNaN), Status::kWithin);
}

TEST(Compare, NotFiniteWithoutAnOracle) {
  const OwnedTensor reference(DType::kFloat16, {3}, {1, kNaN, -kInf});
  const Expected expected{reference.view()};
  EXPECT_TRUE(CompareTo(reference, expected).right());
  EXPECT_FALSE(CompareTo({DType::kFloat16, {3}, {1, kNaN, kInf}}, expected).right());
  EXPECT_FALSE(CompareTo({DType::kFloat16, {3}, {1, 1, -kInf}}, expected).right());
}

TEST(Compare, OverflowOfTheReferenceMayBeFollowed) {
  // 70000 does not fit float16, 65519 does when it is rounded the right way.
  Case c(DType::kFloat16, {3}, {70000, 65519, 5});
  EXPECT_TRUE(std::isinf(c.reference.Get(0)));
  EXPECT_TRUE(CompareTo({DType::kFloat16, {3}, {kInf, 65504, 5}}, c.expected()).right());
  EXPECT_TRUE(CompareTo({DType::kFloat16, {3}, {kInf, kInf, 5}}, c.expected()).right());
  EXPECT_FALSE(CompareTo({DType::kFloat16, {3}, {-kInf, 65504, 5}}, c.expected()).right());
  EXPECT_FALSE(CompareTo({DType::kFloat16, {3}, {kNaN, 65504, 5}}, c.expected()).right());
  EXPECT_FALSE(CompareTo({DType::kFloat16, {3}, {kInf, 65504, kInf}}, c.expected()).right());
  // The oracle says infinity, the reference a number: either is right, anything else is not.
  c.oracle.Set(2, kInf);
  EXPECT_TRUE(CompareTo({DType::kFloat16, {3}, {kInf, 65504, 5}}, c.expected()).right());
  EXPECT_TRUE(CompareTo({DType::kFloat16, {3}, {kInf, 65504, kInf}}, c.expected()).right());
  EXPECT_FALSE(CompareTo({DType::kFloat16, {3}, {kInf, 65504, 6}}, c.expected()).right());
}

TEST(Compare, ValuesWhoseSquaresDoNotFit) {
  for (const double scale : {1e200, 1e-200}) {
    const std::vector<double> values = Normal(1000, 1, scale);
    const Case c(DType::kFloat64, {1000}, values);
    OwnedTensor near = c.reference;
    OwnedTensor far = c.reference;
    OwnedTensor everywhere = c.reference;
    const Budget budget = Budget::Make(c.expected(), 1);
    for (int64_t i = 0; i < 1000; ++i) {
      near.Set(i, values[static_cast<size_t>(i)] * (1 + 1e-15));
      far.Set(i, values[static_cast<size_t>(i)] * (1 + 1e-9));
      everywhere.Set(i, values[static_cast<size_t>(i)] +
                            0.9 * budget.ElementBudget(std::fabs(values[static_cast<size_t>(i)])));
    }
    for (const bool with_oracle : {true, false}) {
      Expected expected = c.expected();
      if (!with_oracle) expected.oracle.reset();
      EXPECT_EQ(CompareTo(near, expected).status, Status::kWithin)
          << CompareTo(near, expected).Summary();
      EXPECT_EQ(CompareTo(far, expected).status, Status::kWrongValue);
      EXPECT_FALSE(CompareTo({DType::kFloat64, {1000}}, expected).right());
    }
    EXPECT_GT(CompareTo(everywhere, c.expected()).rms_ratio, 1);
  }
}

TEST(Compare, ZerosOfEitherSignAreEqual) {
  const Case c(DType::kFloat32, {2}, {0.0, 1});
  EXPECT_EQ(CompareTo({DType::kFloat32, {2}, {-0.0, 1}}, c.expected()).status, Status::kWithin);
}

TEST(Compare, DenormalsMayBeFlushedOnlyInWideFormats) {
  const Case wide(DType::kFloat32, {2}, {1e-40, 1});
  EXPECT_TRUE(CompareTo({DType::kFloat32, {2}, {0, 1}}, wide.expected()).right());
  const Case half(DType::kFloat16, {2}, {5e-5, 1});
  EXPECT_FALSE(CompareTo({DType::kFloat16, {2}, {0, 1}}, half.expected()).right());
}

TEST(Compare, NarrowFloatsMayBeTheNeighbourButNotFurther) {
  for (const DType dtype : {DType::kFloat8E4M3, DType::kFloat8E5M2}) {
    // Values that the format holds exactly, so that the reference has no error at all.
    OwnedTensor reference(dtype, {200});
    for (int64_t i = 0; i < 200; ++i) {
      reference.bytes[static_cast<size_t>(i)] =
          static_cast<unsigned char>(0x30 + i % 8 + i % 2 * 128);
    }
    const Expected expected{reference.view(), reference.view()};
    OwnedTensor near = reference;
    near.bytes[17] += 1;
    near.bytes[20] -= 1;
    EXPECT_EQ(CompareTo(near, expected).status, Status::kWithin)
        << CompareTo(near, expected).Summary();
    OwnedTensor far = reference;
    far.bytes[17] += 4;
    EXPECT_EQ(CompareTo(far, expected).status, Status::kWrongValue);
  }
}

TEST(Compare, IntegersAreExact) {
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kUInt16,
        DType::kUInt32, DType::kUInt64, DType::kBool}) {
    std::vector<double> values(100);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 2);
    const OwnedTensor reference(dtype, {100}, values);
    const Expected expected{reference.view()};
    EXPECT_EQ(CompareTo(reference, expected).status, Status::kIdentical);
    OwnedTensor candidate = reference;
    candidate.Set(99, 0);
    const Comparison result = CompareTo(candidate, expected);
    EXPECT_EQ(result.status, Status::kWrongValue) << DTypeName(dtype);
    EXPECT_EQ(result.beyond, 1);
    EXPECT_EQ(result.worst.at(0).index, 99);
    EXPECT_EQ(result.max_error, 1);
  }
}

TEST(Compare, LargeIntegersThatDoubleCannotTellApart) {
  OwnedTensor reference(DType::kInt64, {1});
  OwnedTensor candidate(DType::kInt64, {1});
  const int64_t large = (int64_t{1} << 60) + 1;
  const int64_t next = large + 1;
  std::memcpy(reference.bytes.data(), &large, 8);
  std::memcpy(candidate.bytes.data(), &next, 8);
  const Expected expected{reference.view()};
  EXPECT_EQ(CompareTo(candidate, expected).status, Status::kWrongValue);
}

TEST(Compare, IntegersMayFollowTheOracleInsteadOfTheReference) {
  const OwnedTensor reference(DType::kInt64, {3}, {4, 7, 9});
  const OwnedTensor as_double(DType::kFloat64, {3}, {4, 8, 9});
  const OwnedTensor as_int(DType::kInt64, {3}, {4, 8, 9});
  for (const OwnedTensor* oracle : {&as_double, &as_int}) {
    const Expected expected{reference.view(), oracle->view()};
    EXPECT_EQ(CompareTo({DType::kInt64, {3}, {4, 8, 9}}, expected).status, Status::kWithin);
    EXPECT_EQ(CompareTo({DType::kInt64, {3}, {4, 7, 9}}, expected).status, Status::kIdentical);
    EXPECT_EQ(CompareTo({DType::kInt64, {3}, {4, 6, 9}}, expected).status, Status::kWrongValue);
    EXPECT_EQ(CompareTo({DType::kInt64, {3}, {5, 8, 9}}, expected).status, Status::kWrongValue);
  }
}

TEST(Compare, BoolMustBeZeroOrOne) {
  const OwnedTensor reference(DType::kBool, {2}, {1, 0});
  OwnedTensor candidate = reference;
  candidate.bytes[0] = 2;
  EXPECT_EQ(CompareTo(candidate, {reference.view()}).status, Status::kWrongValue);
}

TEST(Compare, ComplexByComponentAgainstTheMagnitude) {
  // The imaginary part is tiny beside the real one: its error counts against the magnitude.
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.insert(values.end(), {1.0 + i, 1e-9});
  const Case c(DType::kComplex64, {100}, values);
  OwnedTensor candidate = c.reference;
  candidate.Set(7, 1e-9 + 2e-7);
  EXPECT_TRUE(CompareTo(candidate, c.expected()).right());
  candidate.Set(7, 0.01);
  const Comparison result = CompareTo(candidate, c.expected());
  EXPECT_EQ(result.status, Status::kWrongValue);
  EXPECT_EQ(result.beyond, 1);
  EXPECT_EQ(result.worst[0].index, 3);
  EXPECT_EQ(result.worst[0].part, "im");
  OwnedTensor conjugate = c.reference;
  for (int64_t i = 1; i < 200; i += 2) conjugate.Set(i, -conjugate.Get(i) - 0.1);
  EXPECT_EQ(CompareTo(conjugate, c.expected()).beyond, 100);
}

TEST(Compare, ComplexNotFinite) {
  const Case c(DType::kComplex128, {2}, {1, kInf, 2, 3});
  EXPECT_TRUE(CompareTo(c.reference, c.expected()).right());
  OwnedTensor candidate = c.reference;
  candidate.Set(0, 5);  // beside the infinite component
  EXPECT_FALSE(CompareTo(candidate, c.expected()).right());
}

TEST(Compare, PoisonThatIsLeft) {
  for (size_t type = 0; type < kDTypeCount; ++type) {
    const auto dtype = static_cast<DType>(type);
    const auto parts = static_cast<size_t>(ComponentsOf(dtype));
    std::vector<double> values(300 * parts);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 2);
    const OwnedTensor reference(dtype, {300}, values);
    const Expected expected{reference.view()};
    const PoisonPattern poison(dtype, 42);
    OwnedTensor candidate(dtype, {300});
    poison.Fill(candidate.spec, candidate.bytes.data());
    Comparison result = CompareTo(candidate, expected, &poison);
    EXPECT_EQ(result.status, Status::kUntouched) << DTypeName(dtype);
    EXPECT_EQ(result.untouched, 300);
    for (size_t i = 0; i < 290 * DTypeBytes(dtype); ++i) candidate.bytes[i] = reference.bytes[i];
    result = CompareTo(candidate, expected, &poison);
    EXPECT_EQ(result.status, Status::kPartlyUntouched) << DTypeName(dtype);
    EXPECT_EQ(result.untouched, 10);
    EXPECT_EQ(result.where, "every element from flat index 290");
    EXPECT_TRUE(CompareTo(reference, expected, &poison).right());
  }
}

TEST(Compare, PoisonIsSeenEvenWhereNaNIsExpected) {
  const Case c(DType::kFloat32, {4}, {1, kNaN, kNaN, 2});
  const PoisonPattern poison(DType::kFloat32, 1);
  OwnedTensor candidate(DType::kFloat32, {4});
  poison.Fill(candidate.spec, candidate.bytes.data());
  candidate.Set(0, 1);
  candidate.Set(1, kNaN);
  candidate.Set(3, 2);
  EXPECT_EQ(CompareTo(candidate, c.expected(), &poison).status, Status::kPartlyUntouched);
}

TEST(Compare, ThreadsDoNotChangeTheResult) {
  const Case c(DType::kFloat32, {300000}, Normal(300000, 5));
  OwnedTensor candidate = c.reference;
  std::mt19937_64 random(2);
  for (int64_t i = 0; i < 300000; ++i) {
    candidate.Set(i, candidate.Get(i) * (1 + 1e-6 * std::normal_distribution<double>()(random)));
  }
  candidate.Set(123456, kNaN);
  candidate.Set(299999, 1e30);
  const Budget budget = Budget::Make(c.expected(), 1);
  EXPECT_EQ(Budget::Make(c.expected(), 3).limits().relative, budget.limits().relative);
  const Comparison one = Compare(candidate.view(), c.expected(), budget, nullptr, 1);
  const Comparison three = Compare(candidate.view(), c.expected(), budget, nullptr, 3);
  EXPECT_EQ(one.beyond, three.beyond);
  EXPECT_EQ(one.not_finite_wrong, 1);
  EXPECT_EQ(three.not_finite_wrong, 1);
  EXPECT_EQ(one.p999_ratio, three.p999_ratio);
  EXPECT_EQ(one.where, three.where);
  EXPECT_NEAR(one.rms_error / three.rms_error, 1, 1e-12);
  ASSERT_EQ(one.worst.size(), three.worst.size());
  for (size_t i = 0; i < one.worst.size(); ++i) EXPECT_EQ(one.worst[i].index, three.worst[i].index);
}

TEST(Compare, JsonHoldsWhatJsonCannot) {
  const Case c(DType::kFloat32, {2}, {1, 2});
  const std::string json = CompareTo({DType::kFloat32, {2}, {kInf, 2}}, c.expected()).ToJson();
  EXPECT_NE(json.find(R"("status":"non_finite")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("got":"inf")"), std::string::npos) << json;
}

}  // namespace
}  // namespace kerf::verify
