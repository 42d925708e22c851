#include "loop/verify/tile_kernels.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <random>

#include "loop/verify/verify_testing.h"

namespace kerf::verify {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Simd> Available() {
  std::vector<Simd> levels = {Simd::kPortable};
  if (BestSimd() != Simd::kPortable) levels.push_back(Simd::kAvx2);
  if (BestSimd() == Simd::kAvx512) levels.push_back(Simd::kAvx512);
  return levels;
}

// Values of every kind: ordinary ones over many magnitudes, zeros of both signs, denormals, the
// largest ones, NaN and infinity.
double AnyValue(DType dtype, std::mt19937_64& random) {
  const FloatFormat& format = FormatOf(dtype);
  const double sign = random() % 2 == 0 ? 1 : -1;
  switch (random() % 16) {
    case 0:
      return sign * 0.0;
    case 1:
      return sign * format.smallest * static_cast<double>(random() % 5);
    case 2:
      return sign * format.max_finite;
    case 3:
      return sign * kInf;
    case 4:
      return std::nan("");
    default: {
      const double mantissa = std::uniform_real_distribution<double>(1, 2)(random);
      return sign * std::ldexp(mantissa, static_cast<int>(random() % 24) - 12);
    }
  }
}

struct Slow {
  long double max_abs = 0, sum_abs = 0, squares[kClassCount] = {};
  std::vector<bool> beyond;
  std::vector<uint16_t> notable;
};

Slow MeasureSlowly(const OwnedTensor& candidate, const OwnedTensor& expected,
                   const std::vector<double>* magnitude, const ElementLimits& limits,
                   double notable_ratio) {
  Slow slow;
  for (int64_t i = 0; i < candidate.spec.numel(); ++i) {
    const double wanted = expected.Get(i);
    const double error = std::fabs(candidate.Get(i) - wanted);
    const double size = magnitude ? (*magnitude)[static_cast<size_t>(i)] : std::fabs(wanted);
    const double floor =
        limits.floors[std::isfinite(size) ? (size == 0 ? 0 : std::max(0, std::ilogb(size) + 1023))
                                          : 2047];
    const double budget = size * limits.relative + floor;
    slow.beyond.push_back(!(error <= budget) || !std::isfinite(error));
    if (!(error <= budget * notable_ratio) || !std::isfinite(error)) {
      slow.notable.push_back(static_cast<uint16_t>(i));
    }
    if (!std::isfinite(error)) continue;
    slow.max_abs = std::max<long double>(slow.max_abs, error);
    slow.sum_abs += error;
    const long double scaled = static_cast<long double>(error) * limits.error_scale;
    const long double square = scaled * scaled;
    slow.squares[0] += square;
    if (size < limits.class_below[0]) slow.squares[1] += square;
    if (size < limits.class_below[1]) slow.squares[2] += square;
  }
  return slow;
}

void ExpectClose(double got, long double wanted, double tolerance, const char* what) {
  if (wanted > std::numeric_limits<double>::max()) return;
  EXPECT_NEAR(got, static_cast<double>(wanted), static_cast<double>(wanted) * tolerance) << what;
}

class TileKernels : public testing::Test {
 protected:
  TileKernels() {
    for (size_t e = 0; e < kExponents; ++e) {
      // Steps that are no multiple of anything, so that a wrong index shows.
      floors_[e] = std::ldexp(1.0 + static_cast<double>(e % 7) / 8,
                              std::max(-20, static_cast<int>(e) - 1033));
    }
    limits_ = {0x1p-9, floors_.data(), {0.25, 0x1p-6}, 4, 1010, 16384};
  }

  // Ordinary values only, as in a tensor without surprises.
  bool ordinary_ = false;

  void Check(DType candidate_type, DType expected_type, Simd simd, size_t count, double ratio,
             bool with_magnitude = false) {
    const TileKernel kernel = FindTileKernel(candidate_type, expected_type, simd);
    if (kernel == nullptr) return;
    ++checked_;
    OwnedTensor candidate(candidate_type, {static_cast<int64_t>(count)});
    OwnedTensor expected(expected_type, {static_cast<int64_t>(count)});
    std::vector<double> magnitude(count);
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<int64_t>(i);
      expected.Set(at, ordinary_ ? std::normal_distribution<double>()(random_)
                                 : AnyValue(candidate_type, random_));
      const double near = 1 + std::normal_distribution<double>(0, 0x1p-9)(random_);
      candidate.Set(at, !ordinary_ && random_() % 8 == 0 ? AnyValue(candidate_type, random_)
                                                         : expected.Get(at) * near);
      magnitude[i] = std::ldexp(1.5, static_cast<int>(random_() % 24) - 12);
    }
    const Tile tile{candidate.bytes.data(), expected.bytes.data(),
                    with_magnitude ? magnitude.data() : nullptr, count};
    TileSums sums;
    const auto findings = std::make_unique<TileFindings>();
    findings->beyond.fill(~uint64_t{0});  // left over from an earlier tile
    kernel(tile, limits_, ratio, sums, *findings);
    const Slow slow =
        MeasureSlowly(candidate, expected, with_magnitude ? &magnitude : nullptr, limits_, ratio);
    // Narrow candidates may be measured in float32.
    const double tolerance = candidate_type != DType::kFloat64 ? 1e-5 : 1e-12;
    ExpectClose(sums.max_abs, slow.max_abs, tolerance, "max");
    ExpectClose(sums.sum_abs, slow.sum_abs, tolerance, "sum");
    for (size_t c = 0; c < kClassCount; ++c) {
      ExpectClose(sums.sum_squares[c], slow.squares[c], tolerance, "squares");
    }
    bool any = false;
    for (size_t i = 0; i < kTileElements; ++i) {
      const bool bit = (findings->beyond[i / 64] >> (i % 64) & 1) != 0;
      const bool wanted = i < count && slow.beyond[i];
      any = any || wanted;
      EXPECT_EQ(bit, wanted) << i;
    }
    EXPECT_EQ(findings->any_beyond, any);
    std::vector<uint16_t> notable;
    for (size_t i = 0; i < findings->notable_count; ++i) {
      const uint16_t index = findings->notable[i];
      // What float32 cannot hold may be listed whatever the ratio.
      const double error = std::fabs(candidate.Get(index) - expected.Get(index));
      if (ratio == kInf && std::isfinite(error) && error > FLT_MAX) continue;
      notable.push_back(index);
    }
    EXPECT_EQ(notable, slow.notable);
    ASSERT_FALSE(HasFailure()) << DTypeName(candidate_type) << " against "
                               << DTypeName(expected_type) << " simd " << static_cast<int>(simd)
                               << " count " << count;
  }

  std::array<double, kExponents> floors_{};
  ElementLimits limits_;
  std::mt19937_64 random_{7};
  int checked_ = 0;
};

TEST_F(TileKernels, AgreeWithTheSlowOneOnEveryTail) {
  for (const Simd simd : Available()) {
    for (const DType type : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (size_t count = 0; count <= 67; ++count) {
        Check(type, type, simd, count, 0);
        Check(type, DType::kFloat64, simd, count, 0.5);
      }
      for (const size_t count : {4095U, 4096U}) {
        Check(type, type, simd, count, 2);
        Check(type, DType::kFloat64, simd, count, kInf);
      }
    }
  }
  EXPECT_GT(checked_, 100);
}

TEST_F(TileKernels, AgreeWithTheSlowOneOnOrdinaryValues) {
  ordinary_ = true;
  for (const Simd simd : Available()) {
    for (const DType type : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (const size_t count : {15U, 16U, 1000U, 4096U}) {
        for (const double ratio : {0.0, 0.7, 1.5}) {
          Check(type, type, simd, count, ratio);
          Check(type, DType::kFloat64, simd, count, ratio);
        }
      }
    }
  }
}

// The floors of some exponents are kept in registers: every magnitude must still find its own,
// those right outside the kept ones too.
TEST_F(TileKernels, FindTheFloorOfEveryExponent) {
  limits_.relative = 0;
  for (const Simd simd : Available()) {
    for (const DType type : {DType::kFloat64, DType::kFloat32}) {
      const TileKernel kernel = FindTileKernel(type, DType::kFloat64, simd);
      if (kernel == nullptr) continue;
      constexpr int kLowest = -60;
      constexpr int64_t kCount = 112;
      OwnedTensor expected(DType::kFloat64, {kCount});
      OwnedTensor candidate(type, {kCount});
      for (int64_t i = 0; i < kCount; ++i) {
        const double value = std::ldexp(1.0, kLowest + static_cast<int>(i / 2));
        const auto exponent = static_cast<size_t>(kLowest + i / 2 + 1023);
        // Just inside and just outside of what this exponent allows.
        floors_[exponent] = std::ldexp(1.0 + static_cast<double>(exponent % 7) / 8,
                                       static_cast<int>(exponent) - 1023 - 4);
        candidate.Set(i, value + floors_[exponent] * (i % 2 == 0 ? 0.99 : 1.01));
        expected.Set(i, value);
      }
      TileSums sums;
      const auto findings = std::make_unique<TileFindings>();
      kernel({candidate.bytes.data(), expected.bytes.data(), nullptr, kCount}, limits_, 1, sums,
             *findings);
      for (int64_t i = 0; i < kCount; ++i) {
        const bool beyond = (findings->beyond[static_cast<size_t>(i) / 64] >> (i % 64) & 1) != 0;
        EXPECT_EQ(beyond, i % 2 == 1) << "2^" << kLowest + i / 2 << " " << DTypeName(type)
                                      << " simd " << static_cast<int>(simd);
      }
    }
  }
}

TEST_F(TileKernels, TakeTheMagnitudesThatAreGiven) {
  for (const Simd simd : Available()) {
    for (size_t count = 0; count <= 40; ++count) {
      Check(DType::kFloat64, DType::kFloat64, simd, count, 0.25, true);
    }
  }
}

TEST_F(TileKernels, ThereIsAlwaysOneForDoubles) {
  for (const Simd simd : Available()) {
    EXPECT_NE(FindTileKernel(DType::kFloat64, DType::kFloat64, simd), nullptr);
  }
}

}  // namespace
}  // namespace kerf::verify
