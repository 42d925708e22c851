#include "loop/verify/expectations.h"

#include "loop/verify/aikg_verdict.h"
#include "loop/verify/output_report.h"
#include "loop/verify/reduction_length.h"

namespace kerf::verify {
namespace {

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
    judgement.outputs.push_back(ReportOf(comparison, limits, output.name, output.spec));
    const Finding finding = FindingOf(comparison, limits, output.name);
    if (!finding.bad()) continue;
    if (!judgement.finding.bad()) judgement.finding = finding;
    judgement.log += LogOf(comparison, output.name, output.spec, one.seed);
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
