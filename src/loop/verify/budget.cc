// docs/comparison.md has the derivation of every number here.
#include "loop/verify/budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "loop/verify/compare.h"
#include "loop/verify/measure.h"
#include "loop/verify/reference_errors.h"

namespace kerf::verify {
namespace {

// So few elements may all be near their budgets.
constexpr int64_t kFewElements = 32;

// So many elements tell how wrong the reference is at their magnitude.
constexpr int64_t kEnough = 64;

// By the precision of the output.
struct Allowance {
  double relative;        // in units of u: what every element may be off
  double least_relative;  // where tightening ends
  double growth;          // times the reference's own error
  double rms_growth;
  double least_rms;         // in units of u * RMS(o)
  double compute_roundoff;  // of the sums behind an element
};

// Matrix units keep narrow products in float32, but cut sums off instead of rounding them: errors
// of one sign, which do not cancel.
constexpr double kMatrixRoundoff = 0x1p-22;

Allowance AllowanceFor(DType dtype, double reduction_length, const TensorSpec& spec) {
  const double u = FormatOf(dtype).unit_roundoff;
  if (dtype == DType::kFloat8E4M3 || dtype == DType::kFloat8E5M2) {
    // Never below the neighbouring code, which lies up to 2u|o| from the oracle.
    return {1, 1, 2, 3, 0.75, kMatrixRoundoff};
  }
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    return {2, 2, 4, 4, 0.75, kMatrixRoundoff};
  }
  // Softmax, norms and scans reduce along an axis that the output still has; a plain loop over n
  // positive terms is off by about sqrt(n)/3 u. There is nothing between float32 and the 8192 u of
  // TF32, so that 128 u loses no distinction.
  double longest = reduction_length;
  for (const int64_t size : spec.shape) longest = std::max(longest, static_cast<double>(size));
  const double growth = std::clamp(std::sqrt(reduction_length) / 4, 4.0, 256.0);
  return {std::clamp(std::sqrt(longest), 32.0, 128.0), 4, growth, std::max(4.0, growth / 2), 4, u};
}

// What underflow may cost. Flushing denormals is usual on accelerators, and below 2^-126 nobody
// looks; in the narrow formats denormals are ordinary numbers and may be off by one step only.
double UnderflowAllowance(DType dtype) {
  const FloatFormat& format = FormatOf(dtype);
  return format.min_exponent <= -126 ? std::ldexp(1.0, format.min_exponent) : format.smallest;
}

}  // namespace

class BudgetMaker {
 public:
  BudgetMaker(const Expected& expected, int threads)
      : expected_(expected),
        threads_(threads),
        dtype_(ComponentType(expected.reference.spec.dtype)),
        u_(FormatOf(dtype_).unit_roundoff),
        allowance_(AllowanceFor(dtype_, std::max(1.0, expected.reduction_length),
                                expected.reference.spec)) {}

  Budget Make() {
    budget_.weak_oracle_ = !expected_.oracle.has_value();
    budget_.unit_roundoff_ = u_;
    budget_.relative_ = allowance_.relative;
    budget_.growth_ = allowance_.growth;
    budget_.reduction_length_ = std::max(1.0, expected_.reduction_length);
    bins_ = CollectErrors(expected_, threads_);
    int64_t smaller = 0;  // zeros, which are never off, do not count
    for (uint32_t e = 0; e < kExponents; ++e) {
      if (bins_[e].count == 0) continue;
      budget_.top_exponent_ = e;
      if (smaller < kEnough) budget_.bottom_exponent_ = e;
      if (e > 0) smaller += bins_[e].count;
    }
    MakeClasses();
    MakeFloors();
    MakeRmsLimits();
    if (expected_.lower) Tighten();
    return std::move(budget_);
  }

 private:
  // Whole bins belong to a class: its bounds are powers of two.
  void MakeClasses() {
    const double rms = ClassRms(0, [](const ExponentBin& bin) { return bin.sum_expected2; });
    const int typical = rms > 0 ? std::ilogb(rms) + kExponentBias : 0;
    ends_ = {static_cast<int>(kExponents), typical - 3, typical - 11};
    const int low = kExponentBias + FormatOf(dtype_).min_exponent;
    for (size_t c = 0; c < kClassCount; ++c) {
      MagnitudeClass& cls = budget_.classes_[c];
      if (ends_[c] <= low) ends_[c] = 0;  // nothing is that small
      cls.below = c == 0 ? std::numeric_limits<double>::infinity()
                         : (ends_[c] == 0 ? 0 : PowerOfTwo(ends_[c]));
      cls.count = 0;
      for (int e = 0; e < ends_[c]; ++e) cls.count += bins_[static_cast<size_t>(e)].count;
      cls.rms_expected = ClassRms(c, [](const ExponentBin& bin) { return bin.sum_expected2; });
      cls.rms_reference_error = ClassRms(c, [](const ExponentBin& bin) { return bin.sum_error2; });
      // One rounding, evenly spread, has an RMS of about 0.4 u; the reference may have had two.
      if (budget_.weak_oracle_) cls.rms_reference_error = 0.5 * u_ * cls.rms_expected;
      if (expected_.lower) {
        cls.rms_lower_error =
            ClassRms(c, [](const ExponentBin& bin) { return bin.sum_lower_error2; });
      }
    }
  }

  template <typename Sum>
  [[nodiscard]] double ClassRms(size_t c, Sum sum) const {
    long double total = 0;  // has room for the squares of every double
    int64_t count = 0;
    for (int e = 0; e < ends_[c]; ++e) {
      total += std::ldexp(static_cast<long double>(sum(bins_[static_cast<size_t>(e)])),
                          2 * (e - kExponentBias));
      count += bins_[static_cast<size_t>(e)].count;
    }
    return count == 0 ? 0 : static_cast<double>(std::sqrt(total / static_cast<long double>(count)));
  }

  // An error that the reference is not known to have made, but which a plain loop over the same
  // terms makes: sqrt(K)/2.5 u times the size of the partial sums, doubled for a handful of sigma
  // and the tail over many elements. The size of the partial sums is the typical output, unless the
  // reference's own errors at this magnitude say that they were smaller.
  [[nodiscard]] double PlainLoopError(const ErrorProfile& profile, int exponent) const {
    const double k = budget_.reduction_length_;
    if (k <= 1.5) return 0;
    const double root = std::min(std::sqrt(k), 1024.0);
    const double typical = std::max(budget_.classes_[0].rms_expected, PowerOfTwo(exponent + 1));
    const double from_output = 2 * root * allowance_.compute_roundoff * typical;
    if (budget_.rounded_once_ || budget_.weak_oracle_) return from_output;
    return std::min(from_output, 8 * root * profile.error[static_cast<size_t>(exponent)]);
  }

  // What roundings in the steps before an element cost where large terms cancel in it: the
  // difference of an element and a mean is as wrong as the mean. A reference that sums in float64
  // does not show it. Never more than a few roundings of the typical element.
  void FindCancellation() {
    if (!expected_.condition || !expected_.oracle) return;
    const double most = 8 * u_ * budget_.classes_[0].rms_expected;
    cancelled_ = TypicalConditions(bins_);
    for (double& error : cancelled_) error = std::min(8 * u_ * error, most);
  }

  void MakeFloors() {
    ErrorProfile profile = MakeProfile(bins_, u_);
    budget_.rounded_once_ = profile.rounded_once && !budget_.weak_oracle_;
    FindCancellation();
    const double underflow = UnderflowAllowance(dtype_);
    const int low = kExponentBias + FormatOf(dtype_).min_exponent;
    for (int e = 0; e < static_cast<int>(kExponents); ++e) {
      double& error = profile.error[static_cast<size_t>(e)];
      const int capped = std::clamp(e, low, 2046);
      if (e < low) continue;
      // Exponents at which nothing was expected matter only where the reference is not finite.
      if (error == 0) error = u_ / 2 * PowerOfTwo(capped);
      if (budget_.weak_oracle_) {
        // Cancellation makes small elements as wrong as their typical neighbours.
        error = std::max(u_ * PowerOfTwo(capped), u_ / 8 * budget_.classes_[0].rms_expected);
      }
      plain_loop_[static_cast<size_t>(e)] = PlainLoopError(profile, capped);
      budget_.floors_[static_cast<size_t>(e)] =
          std::max({allowance_.growth * error, plain_loop_[static_cast<size_t>(e)],
                    cancelled_[static_cast<size_t>(e)]}) +
          underflow;
    }
    for (int e = 0; e < low; ++e) {
      budget_.floors_[static_cast<size_t>(e)] = budget_.floors_[static_cast<size_t>(low)];
    }
    profile_ = profile;
  }

  void MakeRmsLimits() {
    for (size_t c = 0; c < kClassCount; ++c) {
      MagnitudeClass& cls = budget_.classes_[c];
      if (cls.count == 0) continue;
      long double plain2 = 0;
      long double cancelled2 = 0;
      long double budget2 = 0;
      for (int e = 0; e < ends_[c]; ++e) {
        const auto count = static_cast<long double>(bins_[static_cast<size_t>(e)].count);
        if (count == 0) continue;
        const long double plain = plain_loop_[static_cast<size_t>(e)];
        plain2 += count * plain * plain;
        const long double cancelled = cancelled_[static_cast<size_t>(e)];
        cancelled2 += count * cancelled * cancelled;
        const long double element =
            budget_.relative_ * u_ * PowerOfTwo(e + 1) + budget_.floors_[static_cast<size_t>(e)];
        budget2 += count * element * element;
      }
      const auto n = static_cast<double>(cls.count);
      // A few elements may all be near their budgets; many may not.
      const double share = std::clamp(4 / std::sqrt(n), 0.5, 1.0);
      // Errors of one mean are those of all its elements.
      cancelled_rms_[c] = std::max(share, cls.count < kFewElements ? 1.0 : 0.5) *
                          static_cast<double>(std::sqrt(cancelled2 / n));
      const double underflow = UnderflowAllowance(dtype_);
      cls.rms_limit = std::max({allowance_.rms_growth * cls.rms_reference_error,
                                share * allowance_.relative * u_ * cls.rms_expected,
                                share * static_cast<double>(std::sqrt(plain2 / n)),
                                cancelled_rms_[c], underflow});
      if (cls.count < kFewElements)
        cls.rms_limit = std::max(cls.rms_limit, static_cast<double>(std::sqrt(budget2 / n)));
    }
  }

  // Scales the limits down until the lower precision fails the RMS test fourfold, but never so far
  // that the reference, or an ordinary rounding, is in danger.
  void Tighten() {
    for (size_t c = kClassCount; c-- > 0;) {
      MagnitudeClass& cls = budget_.classes_[c];
      const double least =
          std::max({2 * cls.rms_reference_error, allowance_.least_rms * u_ * cls.rms_expected,
                    cancelled_rms_[c], UnderflowAllowance(dtype_)});
      const double wanted = std::max(*cls.rms_lower_error / 4, least);
      if (c == 0 && wanted < cls.rms_limit) budget_.tightened_ = wanted / cls.rms_limit;
      cls.rms_limit = std::min(cls.rms_limit, wanted);
    }
    const double scale = budget_.tightened_;
    const double underflow = UnderflowAllowance(dtype_);
    budget_.relative_ = std::max(scale * budget_.relative_, allowance_.least_relative);
    for (size_t e = 0; e < kExponents; ++e) {
      double& floor = budget_.floors_[e];
      const double least = std::max(2 * profile_.error[e], cancelled_[e]) + underflow;
      floor = std::min(floor, std::max(scale * floor, least));
    }
    const TensorView& lower = *expected_.lower;
    const Subject subject{ComponentType(lower.spec.dtype), SourceOf(lower), nullptr};
    const Measurement found =
        MeasureFloats(subject, expected_.reference, expected_.wanted(), budget_.limits(), threads_);
    budget_.lower_would_pass_ = found.where.count() == 0 && WorstRmsRatio(found.sums, budget_) <= 1;
  }

  const Expected& expected_;
  const int threads_;
  const DType dtype_;
  const double u_;
  const Allowance allowance_;
  Budget budget_;
  ExponentBins bins_;
  ErrorProfile profile_;
  std::array<double, kExponents> plain_loop_{};
  std::array<double, kExponents> cancelled_{};
  std::array<double, kClassCount> cancelled_rms_{};
  std::array<int, kClassCount> ends_{static_cast<int>(kExponents), 0, 0};
};

Budget Budget::Make(const Expected& expected, int threads) {
  const TensorSpec& spec = expected.reference.spec;
  for (const auto* view : {&expected.oracle, &expected.lower, &expected.condition}) {
    KERF_CHECK(!view->has_value() || (*view)->spec.shape == spec.shape,
               "what is expected of one output has one shape");
    KERF_CHECK(!view->has_value() || IsComplex((*view)->spec.dtype) == IsComplex(spec.dtype),
               "a complex output has a complex oracle, and no condition");
  }
  if (!IsFloat(spec.dtype) && !IsComplex(spec.dtype)) {
    Budget budget;
    budget.exact_ = true;
    budget.weak_oracle_ = !expected.oracle.has_value();
    return budget;
  }
  return BudgetMaker(expected, threads).Make();
}

void Budget::AllowAsMuchAs(const Budget& other, double times, double times_rms) {
  if (exact_ || other.exact_) return;
  relative_ = std::max(relative_, times * other.relative_);
  // Other inputs may bring an element smaller than any the other budget knows. It comes from
  // cancellation, and is as wrong as the smallest of which enough is known.
  for (size_t e = 0; e < kExponents; ++e) {
    const double floor = other.floors_[std::max<size_t>(e, other.bottom_exponent_)];
    floors_[e] = std::max(floors_[e], times * floor);
  }
  for (size_t c = 0; c < kClassCount; ++c) {
    MagnitudeClass& cls = classes_[c];
    cls.rms_limit = std::max(cls.rms_limit, times_rms * other.classes_[c].rms_limit);
    if (cls.count > 0 && cls.count < kFewElements) {
      cls.rms_limit = std::max(cls.rms_limit, ElementBudget(cls.rms_expected));
    }
  }
}

bool Budget::reference_disagrees() const {
  const MagnitudeClass& all = classes_[0];
  return !weak_oracle_ &&
         all.rms_reference_error > std::max(0.01, 8 * unit_roundoff_) * all.rms_expected;
}

std::optional<double> Budget::lower_margin() const {
  const MagnitudeClass& all = classes_[0];
  if (!all.rms_lower_error || all.rms_limit == 0) return std::nullopt;
  return *all.rms_lower_error / all.rms_limit;
}

ElementLimits Budget::limits() const {
  ElementLimits limits;
  limits.relative = relative_ * unit_roundoff_;
  limits.floors = floors_.data();
  for (size_t c = 1; c < kClassCount; ++c) limits.class_below[c - 1] = classes_[c].below;
  limits.window_begin = top_exponent_ + 2 > kWindow ? top_exponent_ + 2 - kWindow : 1;
  const auto scale_for = [](double limit) {
    // A power of two, and as such exact in float32 for the types that are measured in it.
    return limit > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(limit), -1000, 1000)) : 1.0;
  };
  limits.error_scale = scale_for(classes_[0].rms_limit);
  limits.tiny_scale = scale_for(classes_[kClassCount - 1].rms_limit);
  return limits;
}

double Budget::ElementBudget(double magnitude) const {
  return exact_ ? 0 : BudgetOf(limits(), magnitude);
}

void Budget::Write(JsonWriter& json) const {
  json.BeginObject().Key("exact").Bool(exact_).Key("weak_oracle").Bool(weak_oracle_);
  if (!exact_) {
    json.Key("unit_roundoff").Double(unit_roundoff_);
    json.Key("relative_in_roundoffs").Double(relative_);
    json.Key("growth").Double(growth_);
    json.Key("reduction_length").Double(reduction_length_);
    json.Key("reference_rounded_once").Bool(rounded_once_);
    json.Key("reference_disagrees").Bool(reference_disagrees());
    json.Key("tightened").Double(tightened_);
    json.Key("lower_precision_known").Bool(classes_[0].rms_lower_error.has_value());
    json.Key("lower_precision_would_pass").Bool(lower_would_pass_);
    if (const auto margin = lower_margin()) json.Key("lower_precision_margin").Double(*margin);
    json.Key("classes").BeginArray();
    for (const MagnitudeClass& cls : classes_) {
      if (cls.count == 0) continue;
      json.BeginObject().Key("below").Double(cls.below).Key("count").Int(cls.count);
      json.Key("rms_expected").Double(cls.rms_expected);
      json.Key("rms_reference_error").Double(cls.rms_reference_error);
      if (cls.rms_lower_error) json.Key("rms_lower_error").Double(*cls.rms_lower_error);
      json.Key("rms_limit").Double(cls.rms_limit).EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

std::string Budget::ToJson() const {
  std::string text;
  JsonWriter json(text);
  Write(json);
  return text;
}

}  // namespace kerf::verify
