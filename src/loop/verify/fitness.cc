#include "loop/verify/fitness.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "loop/verify/null_baselines.h"

namespace kerf::verify {
namespace {

// Inputs and parameters of a case, and the output of another case: what a stale buffer holds.
std::vector<NamedView> Others(const Expectations& expectations, size_t i, size_t k) {
  std::vector<NamedView> others;
  const ReferenceCase& one = expectations.one(i);
  for (const auto* list : {&one.inputs, &one.parameters}) {
    for (const Argument& argument : *list) {
      if (argument.kind != Argument::Kind::kTensor) continue;
      others.push_back(
          {argument.name,
           {argument.tensor.spec, expectations.inputs(i).data() + argument.tensor.offset}});
    }
  }
  for (size_t j = 0; j < expectations.size(); ++j) {
    const ReferenceCase& other = expectations.one(j);
    // A twin's output is nearly right by design.
    if (j == i || other.variant != one.variant || other.hidden || other.twin || one.twin) continue;
    others.push_back({"another seed's output", expectations.expected(j, k).reference});
    break;
  }
  return others;
}

// Which null baselines pass case i: those that are right on all of its outputs.
std::vector<std::string> PassingNulls(Expectations& expectations, size_t i, int threads) {
  std::map<std::string, size_t> right;
  size_t outputs = 0;  // that hold something to compare
  for (size_t k = 0; k < expectations.one(i).outputs.size(); ++k) {
    if (expectations.one(i).outputs[k].spec.numel() == 0) continue;
    ++outputs;
    for (const NullBaseline& null :
         RunNullBaselines(expectations.expected(i, k), expectations.budget(i, k),
                          Others(expectations, i, k), threads)) {
      if (null.passes()) ++right[null.name];
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : right) {
    if (count == outputs) names.push_back(name);
  }
  return names;
}

void AddNulls(Expectations& expectations, int threads, std::vector<Unfitness>& found) {
  std::vector<std::string> passing;
  bool first = true;
  for (size_t i = 0; i < expectations.size(); ++i) {
    if (expectations.one(i).hidden) continue;
    std::vector<std::string> here = PassingNulls(expectations, i, threads);
    std::vector<std::string> both;
    std::set_intersection(passing.begin(), passing.end(), here.begin(), here.end(),
                          std::back_inserter(both));
    passing = first ? here : both;
    first = false;
    if (passing.empty()) return;
  }
  if (passing.empty()) return;
  std::string names;
  for (const std::string& name : passing) names += (names.empty() ? "" : ", ") + name;
  found.push_back({"null_baseline", "a candidate that computes nothing would pass: " + names});
}

void AddNonFinite(const Expectations& expectations, std::vector<Unfitness>& found) {
  for (size_t i = 0; i < expectations.size(); ++i) {
    const auto& outputs = expectations.one(i).outputs;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const TensorSpec& spec = outputs[k].spec;
      if (!IsFloat(spec.dtype) || spec.numel() == 0) continue;
      const void* data = expectations.expected(i, k).reference.data;
      bool finite = false;
      for (int64_t n = 0; n < spec.numel() && !finite; ++n) {
        finite = std::isfinite(DecodeElement(spec.dtype, data, n));
      }
      if (finite) continue;
      found.push_back({"nonfinite_reference", "no element of " + outputs[k].name + " is finite"});
      return;
    }
  }
}

}  // namespace

std::vector<Unfitness> FindUnfitness(Expectations& expectations, int threads) {
  std::vector<Unfitness> found;
  AddNonFinite(expectations, found);
  const auto& checks = expectations.reference().checks;
  if (checks.has_value()) {
    if (!checks->deterministic) {
      found.push_back({"not_deterministic", "the reference gives other results for the same seed"});
    }
    for (const auto& influence : checks->influence) {
      // Parameters that do nothing (a bias of a layer that is not used) are common and harmless.
      if (influence.changes_output || influence.name.rfind("input", 0) != 0) continue;
      found.push_back({"no_influence", influence.name + " does not change any output"});
    }
  }
  AddNulls(expectations, threads, found);
  return found;
}

}  // namespace kerf::verify
