// A reference's error at a magnitude is the largest one seen there. Large samples need nothing
// else; a bin with a few elements may have been lucky, and an honest candidate must not fail for
// that. So a bin with few samples borrows from the nearest bins that have enough together:
//
// - from a larger magnitude, scaled down along the slope that the well-filled bins show (0 when
//   they show none: errors of sums do not shrink with the result);
// - from a smaller magnitude as it is, because errors do not shrink when elements grow.
//
// The loan is limited by the bin's own errors: with n samples, all of them being a factor f too
// small by chance has a probability below f^-n. The limits keep that below about 1 in 1000, and so
// a small element is not given the errors of one a million times larger when its own error says
// otherwise.
#include "loop/verify/reference_errors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "loop/verify/parallel.h"

namespace kerf::verify {
namespace {

constexpr uint32_t kLargestExponent = 2046;  // of a finite number
constexpr int64_t kWellFilled = 32;
// Of the element itself. In the narrow formats luck would otherwise excuse any value.
constexpr double kLargestLoan = 1.0 / 32;

struct Scratch {
  std::array<double, kTileElements> reference;
  std::array<double, kTileElements> wanted;
  std::array<double, kTileElements> lower;
  std::array<double, kTileElements> condition;
};

const char* ComponentAt(const TensorView& view, int64_t component) {
  return static_cast<const char*>(view.data) +
         component * static_cast<int64_t>(DTypeBytes(ComponentType(view.spec.dtype)));
}

class Collector {
 public:
  explicit Collector(const Expected& expected)
      : expected_(expected),
        complex_(IsComplex(expected.reference.spec.dtype)),
        low_(kExponentBias + FormatOf(ComponentType(expected.reference.spec.dtype)).min_exponent) {
    for (size_t e = 0; e < kExponents; ++e) {
      units_[e] = std::ldexp(1.0, std::min(kExponentBias - static_cast<int>(e), 1023));
    }
  }

  void Run(int64_t begin, int64_t end, ExponentBins& bins) {
    for (int64_t at = begin; at < end; at += kTileElements) {
      RunTile(at, static_cast<size_t>(std::min<int64_t>(kTileElements, end - at)), bins);
    }
  }

 private:
  void RunTile(int64_t begin, size_t count, ExponentBins& bins) {
    const auto decode = [&](const TensorView& view, double* out) {
      DecodeElements(ComponentType(view.spec.dtype), ComponentAt(view, begin), count, out);
    };
    Scratch& s = *scratch_;
    decode(expected_.reference, s.reference.data());
    const double* wanted = s.reference.data();
    if (expected_.oracle) {
      decode(*expected_.oracle, s.wanted.data());
      wanted = s.wanted.data();
    }
    if (expected_.lower) decode(*expected_.lower, s.lower.data());
    if (expected_.condition) decode(*expected_.condition, s.condition.data());
    for (size_t i = 0; i < count; ++i) {
      const double error = std::fabs(s.reference[i] - wanted[i]);
      if (!std::isfinite(error)) continue;
      const double magnitude =
          complex_ ? std::hypot(wanted[i & ~size_t{1}], wanted[i | 1]) : std::fabs(wanted[i]);
      const auto exponent = static_cast<uint32_t>(std::bit_cast<uint64_t>(magnitude) >> 52);
      ExponentBin& bin = bins[std::clamp(exponent, low_, kLargestExponent)];
      ++bin.count;
      bin.max_error = std::max(bin.max_error, error);
      const double unit = units_[&bin - bins.data()];
      bin.sum_error2 += (error * unit) * (error * unit);
      bin.sum_expected2 += (wanted[i] * unit) * (wanted[i] * unit);
      if (expected_.lower) {
        // A lower precision that overflowed is as wrong as can be, but must stay a number.
        const double lower_error = std::fabs(s.lower[i] - wanted[i]);
        const double counted =
            std::isfinite(lower_error) ? lower_error : std::max(std::fabs(wanted[i]), error);
        bin.sum_lower_error2 += (counted * unit) * (counted * unit);
      }
      if (expected_.condition) {
        const double condition = std::isfinite(s.condition[i]) ? s.condition[i] * unit : 0;
        bin.sum_condition2 += condition * condition;
      }
    }
  }

  const Expected& expected_;
  const bool complex_;
  const uint32_t low_;
  std::array<double, kExponents> units_{};  // 1 / the power of two of a bin
  std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();
};

// The largest factor by which n samples are allowed to have been lucky.
double LuckLimit(int64_t count) {
  if (count == 1) return 1024;
  if (count < 4) return 128;
  return count < 8 ? 16 : 4;
}

double FitSlope(const ExponentBins& bins, double unit_roundoff) {
  double n = 0;
  double sx = 0;
  double sy = 0;
  double sxx = 0;
  double sxy = 0;
  for (int e = 0; e < static_cast<int>(kExponents); ++e) {
    const ExponentBin& bin = bins[static_cast<size_t>(e)];
    if (bin.count < kWellFilled) continue;
    const double rms = std::sqrt(bin.sum_error2 / static_cast<double>(bin.count)) * PowerOfTwo(e);
    const double x = e;
    const double y = std::log2(std::max(rms, unit_roundoff / 4 * PowerOfTwo(e)));
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  if (n < 2) return 0;
  return std::clamp((n * sxy - sx * sy) / (n * sxx - sx * sx), 0.0, 1.0);
}

// Nothing is more accurate than half a rounding.
double OwnError(const ExponentBins& bins, int exponent, double unit_roundoff) {
  return std::max(bins[static_cast<size_t>(exponent)].max_error,
                  unit_roundoff / 2 * PowerOfTwo(exponent));
}

// What the bins on one side of `from` say about it: the nearest ones, until they hold enough
// samples together. Their errors count `shrink` times for each step away.
double Loan(const ExponentBins& bins, int from, int direction, double shrink,
            double unit_roundoff) {
  double loan = 0;
  double factor = 1;
  int64_t samples = 0;
  for (int e = from + direction; e >= 0 && e < static_cast<int>(kExponents); e += direction) {
    factor *= shrink;
    const int64_t count = bins[static_cast<size_t>(e)].count;
    if (count == 0) continue;
    loan = std::max(loan, factor * OwnError(bins, e, unit_roundoff));
    samples += count;
    if (samples >= kWellFilled) break;
  }
  return loan;
}

}  // namespace

ExponentBins CollectErrors(const Expected& expected, int threads) {
  const TensorSpec& spec = expected.reference.spec;
  std::vector<ExponentBins> parts(static_cast<size_t>(std::max(threads, 1)));
  const int used = ForEachRange(spec.numel() * ComponentsOf(spec.dtype), kTileElements, threads,
                                [&](int part, int64_t begin, int64_t end) {
                                  ExponentBins& bins = parts[static_cast<size_t>(part)];
                                  bins.resize(kExponents);
                                  Collector(expected).Run(begin, end, bins);
                                });
  ExponentBins& all = parts[0];
  for (int part = 1; part < used; ++part) {
    for (size_t e = 0; e < kExponents; ++e) {
      const ExponentBin& from = parts[static_cast<size_t>(part)][e];
      all[e].count += from.count;
      all[e].max_error = std::max(all[e].max_error, from.max_error);
      all[e].sum_error2 += from.sum_error2;
      all[e].sum_expected2 += from.sum_expected2;
      all[e].sum_lower_error2 += from.sum_lower_error2;
      all[e].sum_condition2 += from.sum_condition2;
    }
  }
  return std::move(all);
}

namespace {

// Of a bin's condition; 0 for an empty one.
double ConditionOf(const ExponentBins& bins, int exponent) {
  const ExponentBin& bin = bins[static_cast<size_t>(exponent)];
  if (bin.count == 0) return 0;
  return PowerOfTwo(exponent) * std::sqrt(bin.sum_condition2 / static_cast<double>(bin.count));
}

// How much smaller the condition is one exponent below, as well-filled bins show it: 1 in a
// difference with a mean, 1/2 where it is proportional to the element. 1/2 when they do not tell.
double ConditionShrink(const ExponentBins& bins) {
  int least = -1;
  int most = -1;
  for (int e = 0; e < static_cast<int>(kExponents); ++e) {
    if (bins[static_cast<size_t>(e)].count < kWellFilled || ConditionOf(bins, e) <= 0) continue;
    if (least < 0) least = e;
    most = e;
  }
  if (most - least < 2) return 0.5;
  const double slope =
      std::log2(ConditionOf(bins, most) / ConditionOf(bins, least)) / (most - least);
  return std::exp2(-std::clamp(slope, 0.0, 1.0));
}

// What larger elements say about a bin, until they are enough.
double ConditionFromAbove(const ExponentBins& bins, int from, double shrink) {
  double loan = 0;
  double factor = 1;
  int64_t samples = 0;
  for (int e = from + 1; e < static_cast<int>(kExponents) && samples < kWellFilled; ++e) {
    factor *= shrink;
    loan = std::max(loan, factor * ConditionOf(bins, e));
    samples += bins[static_cast<size_t>(e)].count;
  }
  return loan;
}

}  // namespace

std::array<double, kExponents> TypicalConditions(const ExponentBins& bins) {
  // Near enough that a condition proportional to the elements does not look like anything else.
  constexpr int kNear = 3;
  std::array<double, kExponents> conditions{};
  const double shrink = ConditionShrink(bins);
  for (int e = kNear; e + kNear < static_cast<int>(kExponents); ++e) {
    const int64_t count = bins[static_cast<size_t>(e)].count;
    if (count == 0) continue;
    double condition = ConditionOf(bins, e);
    if (count < kWellFilled) {
      double loan = ConditionFromAbove(bins, e, shrink);
      for (int step = 1; step <= kNear; ++step) {
        loan = std::max({loan, ConditionOf(bins, e - step), ConditionOf(bins, e + step)});
      }
      condition = std::max(condition, std::min(loan, condition * LuckLimit(count)));
    }
    conditions[static_cast<size_t>(e)] = condition;
  }
  return conditions;
}

ErrorProfile MakeProfile(const ExponentBins& bins, double unit_roundoff) {
  ErrorProfile profile;
  profile.slope = FitSlope(bins, unit_roundoff);
  for (int e = 0; e < static_cast<int>(kExponents); ++e) {
    const ExponentBin& bin = bins[static_cast<size_t>(e)];
    if (bin.count == 0) continue;
    // 1.01: the oracle itself is rounded.
    if (bin.max_error > 1.01 * unit_roundoff * PowerOfTwo(e + 1)) profile.rounded_once = false;
    const double own = OwnError(bins, e, unit_roundoff);
    double loan = 0;
    if (bin.count < kWellFilled) {
      loan = std::max(Loan(bins, e, 1, std::exp2(-profile.slope), unit_roundoff),
                      Loan(bins, e, -1, 1, unit_roundoff));
      loan = std::min({loan, own * LuckLimit(bin.count), PowerOfTwo(e) * kLargestLoan});
    } else {
      // Well-filled bins are evened out with their direct neighbours only.
      if (bins[static_cast<size_t>(e) + 1].count > 0) {
        loan = OwnError(bins, e + 1, unit_roundoff) * std::exp2(-profile.slope);
      }
      if (bins[static_cast<size_t>(e) - 1].count > 0) {
        loan = std::max(loan, OwnError(bins, e - 1, unit_roundoff));
      }
    }
    profile.error[static_cast<size_t>(e)] = std::max(own, loan);
  }
  return profile;
}

}  // namespace kerf::verify
