// The whole pass against a straightforward one: every type, odd sizes, several threads, with and
// without an oracle, values of every kind.
#include "loop/verify/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "loop/verify/verify_testing.h"

namespace kerf::verify {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Slow {
  std::set<int64_t> wrong;  // elements
  int64_t not_finite_wrong = 0;
  int64_t on_the_edge = 0;  // a rounding decides
  long double max_abs = 0;
  long double sum_abs = 0;
  long double sum_squares = 0;
  std::vector<double> ratios;  // of components, infinity where wrong without a number
};

double SlowMagnitude(const OwnedTensor& wanted, int64_t i) {
  if (!IsComplex(wanted.spec.dtype)) return std::fabs(wanted.Get(i));
  const double both = std::hypot(wanted.Get(i / 2 * 2), wanted.Get(i / 2 * 2 + 1));
  return std::isfinite(both) ? both : std::fabs(wanted.Get(i));
}

enum class Kind { kNumber, kNaN, kPlus, kMinus };
Kind KindOf(double x) {
  if (std::isnan(x)) return Kind::kNaN;
  if (std::isinf(x)) return x > 0 ? Kind::kPlus : Kind::kMinus;
  return Kind::kNumber;
}

Slow MeasureSlowly(const OwnedTensor& candidate, const OwnedTensor& reference,
                   const OwnedTensor& wanted, const Budget& budget) {
  Slow slow;
  const int64_t parts = ComponentsOf(reference.spec.dtype);
  const double overflow = FormatOf(ComponentType(reference.spec.dtype)).overflow;
  for (int64_t i = 0; i < reference.spec.numel() * parts; ++i) {
    const double c = candidate.Get(i);
    const double r = reference.Get(i);
    const double o = wanted.Get(i);
    if (KindOf(c) == Kind::kNumber && KindOf(o) == Kind::kNumber && std::isfinite(c - o)) {
      const double error = std::fabs(c - o);
      const double ratio = error / budget.ElementBudget(SlowMagnitude(wanted, i));
      if (ratio > 1) slow.wrong.insert(i / parts);
      if (std::fabs(ratio - 1) < 1e-6) ++slow.on_the_edge;
      if (ratio > 0) slow.ratios.push_back(ratio);
      slow.max_abs = std::max<long double>(slow.max_abs, error);
      slow.sum_abs += error;
      slow.sum_squares += static_cast<long double>(error) * error;
      continue;
    }
    bool right = false;
    if (KindOf(c) == Kind::kNumber) {
      right = KindOf(o) != Kind::kNumber && KindOf(r) == Kind::kNumber &&
              std::fabs(c - r) <= budget.ElementBudget(std::fabs(r));
    } else {
      right = KindOf(c) == KindOf(r) || KindOf(c) == KindOf(o);
      if (KindOf(c) != Kind::kNaN && KindOf(o) == Kind::kNumber &&
          std::signbit(o) == std::signbit(c)) {
        right = right || std::fabs(o) + budget.ElementBudget(std::fabs(o)) >= overflow;
      }
    }
    if (right) continue;
    slow.wrong.insert(i / parts);
    slow.ratios.push_back(kInf);
    if (!std::isfinite(c) || !std::isfinite(o)) ++slow.not_finite_wrong;
  }
  std::sort(slow.ratios.begin(), slow.ratios.end(), std::greater<>());
  return slow;
}

class MeasureProperty : public testing::Test {
 protected:
  double AnyValue(DType dtype) {
    const FloatFormat& format = FormatOf(dtype);
    const double sign = random_() % 2 == 0 ? 1 : -1;
    switch (random_() % 40) {
      case 0:
        return 0.0 * sign;
      case 1:
        return sign * format.smallest * static_cast<double>(random_() % 9);
      case 2:
        return sign * format.max_finite;
      case 3:
        return sign * kInf;
      case 4:
        return std::nan("");
      case 5:
        return sign * format.max_finite * 4;  // does not fit, except in an oracle
      default:
        return normal_(random_) * std::ldexp(1, static_cast<int>(random_() % 10) - 5);
    }
  }

  void Check(DType dtype, const std::vector<int64_t>& shape, bool with_oracle, double error,
             int threads) {
    const DType type = ComponentType(dtype);
    OwnedTensor reference(dtype, shape);
    OwnedTensor candidate(dtype, shape);
    OwnedTensor oracle(IsComplex(dtype) ? DType::kComplex128 : DType::kFloat64, shape);
    const int64_t components = reference.spec.numel() * ComponentsOf(dtype);
    for (int64_t i = 0; i < components; ++i) {
      const double exact = AnyValue(type);
      const double u = FormatOf(type).unit_roundoff;
      oracle.Set(i, exact);
      reference.Set(i, exact * (1 + u * normal_(random_)));
      candidate.Set(
          i, random_() % 50 == 0 ? AnyValue(type) : exact * (1 + error * u * normal_(random_)));
    }
    Expected expected{reference.view()};
    if (with_oracle) expected.oracle = oracle.view();
    const Budget budget = Budget::Make(expected, threads);
    const Comparison got = Compare(candidate.view(), expected, budget, nullptr, threads);
    const Slow slow = MeasureSlowly(candidate, reference, with_oracle ? oracle : reference, budget);
    const int64_t parts = ComponentsOf(dtype);
    EXPECT_LE(std::abs(got.beyond - static_cast<int64_t>(slow.wrong.size())), slow.on_the_edge);
    EXPECT_EQ(got.not_finite_wrong, (slow.not_finite_wrong + parts - 1) / parts);
    const auto near = [](double a, long double b) {
      // Sums near the largest double may overflow.
      return (b > 1e300L && a > 1e300) ||
             std::fabs(a - static_cast<double>(b)) <= 1e-5 * static_cast<double>(b);
    };
    EXPECT_TRUE(near(got.max_error, slow.max_abs)) << got.max_error;
    EXPECT_TRUE(near(got.mean_error, slow.sum_abs / components)) << got.mean_error;
    const long double rms = std::sqrt(slow.sum_squares / components);
    // What is that far below the limit may be lost.
    if (rms > 1e-18L * budget.classes()[0].rms_limit) {
      EXPECT_TRUE(near(got.rms_error, rms)) << got.rms_error;
    }
    ASSERT_EQ(got.worst.size(), std::min<size_t>(10, slow.ratios.size()));
    for (size_t i = 0; i < got.worst.size(); ++i) {
      EXPECT_TRUE(got.worst[i].ratio == slow.ratios[i] || near(got.worst[i].ratio, slow.ratios[i]));
    }
    const auto rank = static_cast<size_t>(components / 1000);
    const double quantile = rank < slow.ratios.size() ? slow.ratios[rank] : 0;
    EXPECT_TRUE(got.p999_ratio == quantile ||
                (got.p999_ratio >= quantile * 0.999 && got.p999_ratio <= quantile * 1.13))
        << got.p999_ratio << " " << quantile;
    if (static_cast<int64_t>(slow.wrong.size()) > slow.on_the_edge) {
      EXPECT_EQ(got.right(), false);
    }
    ASSERT_FALSE(HasFailure()) << reference.spec.ToString() << (with_oracle ? " oracle" : "")
                               << " error " << error << " threads " << threads;
  }

  std::mt19937_64 random_{11};
  std::normal_distribution<double> normal_;
};

TEST_F(MeasureProperty, AgreesWithTheStraightforwardOne) {
  for (const DType dtype :
       {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3,
        DType::kFloat8E5M2, DType::kComplex64, DType::kComplex128}) {
    for (const bool with_oracle : {true, false}) {
      for (const double error : {0.0, 1.0, 40.0}) {
        Check(dtype, {}, with_oracle, error, 1);
        for (int round = 0; round < 12; ++round) {
          Check(dtype, {1 + static_cast<int64_t>(random_() % 70)}, with_oracle, error, 1);
        }
        Check(dtype, {3, 1 + static_cast<int64_t>(random_() % 3000)}, with_oracle, error, 2);
        Check(dtype, {2, 5, 7919}, with_oracle, error, 3);
      }
    }
  }
}

}  // namespace
}  // namespace kerf::verify
