#include "loop/verify/expectations.h"

#include <fmt/core.h>

#include "loop/verify/aikg_verdict.h"
#include "loop/verify/reduction_length.h"

namespace kerf::verify {
namespace {

constexpr size_t kWorstShown = 8;

TensorView View(const Mapping& file, const StoredTensor& tensor) {
  return {tensor.spec, file.data() + tensor.offset};
}

std::vector<TensorSpec> InputSpecs(const ReferenceCase& one) {
  std::vector<TensorSpec> specs;
  for (const auto* list : {&one.inputs, &one.parameters}) {
    for (const Argument& argument : *list) {
      if (argument.kind == Argument::Kind::kTensor) specs.push_back(argument.tensor.spec);
    }
  }
  return specs;
}

AikgFramework AikgFrameworkOf(const std::string& name) {
  if (name == "numpy") return AikgFramework::kNumpy;
  return name == "mindspore" ? AikgFramework::kMindspore : AikgFramework::kTorch;
}

// What a downgrade looks like: the error is about that of the run in lower precision, not garbage.
bool LooksLikeLowerPrecision(const Comparison& comparison, const Budget& budget) {
  const std::optional<double> lower = budget.lower_margin();
  return lower.has_value() && comparison.rms_ratio > 1 && comparison.rms_ratio < *lower * 4 &&
         comparison.rms_ratio > *lower / 64 && comparison.not_finite_wrong == 0;
}

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

OutputReport ReportOf(const Comparison& comparison, const Budget& budget,
                      const StoredTensor& output) {
  OutputReport report;
  report.name = output.name;
  report.spec = output.spec.ToString();
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

std::string LogOf(const Comparison& comparison, const StoredTensor& output,
                  const ReferenceCase& one) {
  std::string log = fmt::format("seed {}, {} {}: {}\n", one.seed, output.name,
                                output.spec.ToString(), comparison.Summary());
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

}  // namespace

Result<Expectations> Expectations::Make(const Reference& reference, int threads) {
  Expectations expectations;
  expectations.reference_ = &reference;
  expectations.threads_ = threads;
  for (const ReferenceCase& one : reference.cases) {
    Case prepared;
    KERF_ASSIGN_OR_RETURN(prepared.inputs, MapFile(one.input_file));
    KERF_ASSIGN_OR_RETURN(prepared.outputs, MapFile(one.output_file));
    prepared.budgets.resize(one.outputs.size());
    expectations.cases_.push_back(std::move(prepared));
  }
  return expectations;
}

Expected Expectations::expected(size_t i, size_t k) const {
  const ReferenceCase& one = reference_->cases.at(i);
  const Mapping& file = cases_.at(i).outputs;
  Expected expected;
  expected.reference = View(file, one.outputs.at(k));
  if (k < one.oracle.size() && one.oracle[k]) expected.oracle = View(file, *one.oracle[k]);
  if (k < one.lower.size() && one.lower[k]) expected.lower = View(file, *one.lower[k]);
  if (k < one.condition.size() && one.condition[k]) {
    expected.condition = View(file, *one.condition[k]);
  }
  expected.reduction_length = EstimateReductionLength(InputSpecs(one), one.outputs[k].spec);
  return expected;
}

const Budget& Expectations::budget(size_t i, size_t k) {
  std::optional<Budget>& budget = cases_.at(i).budgets.at(k);
  if (!budget.has_value()) budget = Budget::Make(expected(i, k), threads_);
  return *budget;
}

Judgement Expectations::Judge(size_t i, const OutputFile& out) {
  Judgement judgement;
  const ReferenceCase& one = reference_->cases.at(i);
  for (size_t k = 0; k < one.outputs.size(); ++k) {
    const StoredTensor& output = one.outputs[k];
    const Budget& limits = budget(i, k);
    const Comparison comparison =
        Compare({output.spec, out.data(k)}, expected(i, k), limits, &out.poison(k), threads_);
    judgement.outputs.push_back(ReportOf(comparison, limits, output));
    const Finding finding = FindingOf(comparison, limits, output.name);
    if (!finding.bad()) continue;
    if (!judgement.finding.bad()) judgement.finding = finding;
    judgement.log += LogOf(comparison, output, one);
  }
  return judgement;
}

std::vector<AikgReport> Expectations::JudgeLikeAikg(size_t i, const OutputFile& out) const {
  std::vector<AikgReport> reports;
  const ReferenceCase& one = reference_->cases.at(i);
  for (const AikgGeneration generation : {AikgGeneration::kSeed, AikgGeneration::kHead}) {
    AikgReport report;
    report.passed = true;
    report.generation = generation == AikgGeneration::kSeed ? "seed" : "head";
    for (size_t k = 0; k < one.outputs.size() && report.passed; ++k) {
      const AikgVerdict verdict =
          MakeAikgVerdict(expected(i, k).reference, {one.outputs[k].spec, out.data(k)}, generation,
                          AikgFrameworkOf(reference_->framework));
      report.passed = verdict.passed;
      report.err_count = verdict.error_count;
      report.allowed = verdict.allowed;
      report.limit = verdict.limit;
      report.message = verdict.message;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace kerf::verify
