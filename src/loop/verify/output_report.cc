#include "loop/verify/output_report.h"

#include <fmt/core.h>

namespace kerf::verify {
namespace {

constexpr size_t kWorstShown = 8;

// What a downgrade looks like: the error is about that of the run in lower precision, not garbage,
// and not in a single element.
bool LooksLikeLowerPrecision(const Comparison& comparison, const Budget& budget) {
  const std::optional<double> lower = budget.lower_margin();
  if (comparison.beyond * 100 < comparison.elements) return false;
  return lower.has_value() && comparison.rms_ratio > 1 && comparison.rms_ratio < *lower * 4 &&
         comparison.rms_ratio > *lower / 64 && comparison.not_finite_wrong == 0;
}

}  // namespace

Finding FindingOf(const Comparison& comparison, const Budget& budget, const std::string& name) {
  using Status = Comparison::Status;
  const std::string text = name + ": " + comparison.Summary();
  switch (comparison.status) {
    case Status::kIdentical:
    case Status::kWithin:
      return {};
    case Status::kWrongShape:
      return {VerdictStatus::kWrongShape, "shape", text};
    case Status::kWrongDType:
      return {VerdictStatus::kWrongDType, "dtype", text};
    case Status::kUntouched:
      return {VerdictStatus::kWrongValue, "untouched", text};
    case Status::kPartlyUntouched:
      return {VerdictStatus::kWrongValue, "partly_untouched", text};
    case Status::kNonFinite: {
      bool nan = false;
      for (const Mismatch& one : comparison.worst) nan = nan || one.got != one.got;
      return {VerdictStatus::kNonFinite, nan ? "nan" : "inf", text};
    }
    case Status::kWrongValue:
      break;
  }
  if (LooksLikeLowerPrecision(comparison, budget)) {
    return {VerdictStatus::kWrongValue, "precision", text + "; about what a lower precision gives"};
  }
  return {VerdictStatus::kWrongValue, "value", text};
}

OutputReport ReportOf(const Comparison& comparison, const Budget& budget, const std::string& name,
                      const TensorSpec& spec) {
  OutputReport report;
  report.name = name;
  report.spec = spec.ToString();
  report.elements = comparison.elements;
  report.beyond = comparison.beyond;
  report.untouched = comparison.untouched;
  report.nonfinite = comparison.not_finite_wrong;
  report.max_error = comparison.max_error;
  report.mean_error = comparison.mean_error;
  report.rms_error = comparison.rms_error;
  report.max_in_budget = comparison.max_ratio;
  report.p999_in_budget = comparison.p999_ratio;
  report.rms_in_budget = comparison.rms_ratio;
  if (!comparison.worst.empty()) report.worst_index = comparison.worst[0].coordinates;
  report.where = comparison.where;
  report.weak_oracle = budget.weak_oracle();
  report.bit_identical = comparison.identical();
  return report;
}

std::string LogOf(const Comparison& comparison, const std::string& name, const TensorSpec& spec,
                  int64_t seed) {
  std::string log =
      fmt::format("seed {}, {} {}: {}\n", seed, name, spec.ToString(), comparison.Summary());
  if (!comparison.where.empty()) log += "wrong: " + comparison.where + "\n";
  size_t shown = 0;
  for (const Mismatch& worst : comparison.worst) {
    if (!(worst.ratio > 1) || ++shown > kWorstShown) break;
    log += fmt::format("  {}{}{}: expected {:.9g}, got {:.9g} (off by {:.3g}, allowed {:.3g})\n",
                       worst.coordinates, worst.part.empty() ? "" : " ", worst.part, worst.wanted,
                       worst.got, worst.got - worst.wanted, worst.budget);
  }
  return log;
}

}  // namespace kerf::verify
