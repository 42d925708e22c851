#include "dataset/problem.h"

#include <algorithm>

namespace kerf::dataset {
namespace {

constexpr size_t kMostKept = 1000;

}  // namespace

std::string ProblemText(const Problem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += ":" + std::to_string(problem.line);
  text += " (byte " + std::to_string(problem.offset) + "): ";
  if (!problem.name.empty()) text += problem.name + ": ";
  return text + problem.what;
}

void Problems::Add(Problem problem) {
  ++count_;
  if (kept_.size() < kMostKept) kept_.push_back(std::move(problem));
}

void Problems::SortByOffset() {
  std::stable_sort(kept_.begin(), kept_.end(),
                   [](const Problem& a, const Problem& b) { return a.offset < b.offset; });
}

void Problems::Append(const Problems& others) {
  for (const Problem& problem : others.kept_) {
    if (kept_.size() < kMostKept) kept_.push_back(problem);
  }
  count_ += others.count_;
}

}  // namespace kerf::dataset
