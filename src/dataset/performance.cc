#include "dataset/performance.h"

#include <algorithm>
#include <cmath>

#include "dataset/text.h"

namespace kerf::dataset {
namespace {

struct Numbers {
  std::vector<double> values;  // of the candidates that have one
  std::vector<size_t> places;  // from 1
  [[nodiscard]] bool ascending() const {
    return values.size() > 1 && std::is_sorted(values.begin(), values.end()) &&
           values.front() != values.back();
  }
  [[nodiscard]] bool descending() const {
    return values.size() > 1 && std::is_sorted(values.rbegin(), values.rend()) &&
           values.front() != values.back();
  }
};

Numbers NumbersOf(const MemRecord& record) {
  Numbers numbers;
  for (size_t i = 0; i < record.candidates.size(); ++i) {
    if (!IsMeasured(record.candidates[i])) continue;
    numbers.values.push_back(*MeasureOf(record.candidates[i]));
    numbers.places.push_back(i + 1);
  }
  return numbers;
}

Performance BySpeedup(const MemRecord& record, double speedup) {
  for (size_t i = 0; i < record.candidates.size(); ++i) {
    const auto measure = MeasureOf(record.candidates[i]);
    if (measure.has_value() && *measure == speedup) {
      return {Direction::kHigher, "speedup",
              "the jsonl's speedup equals the number of candidate " + std::to_string(i + 1), i + 1};
    }
  }
  return {};
}

Performance ByPredict(const MemRecord& record, const JsonlRecord& jsonl, const Numbers& numbers) {
  const bool first = SameText(jsonl.predict.raw, record.candidates.front().code.raw);
  const bool last = SameText(jsonl.predict.raw, record.candidates.back().code.raw);
  if (first == last || !(numbers.ascending() || numbers.descending())) return {};
  // predict is the best one: towards it the numbers get better.
  const bool higher = first ? numbers.descending() : numbers.ascending();
  Performance found;
  found.direction = higher ? Direction::kHigher : Direction::kLower;
  found.meaning = higher ? "speedup" : "latency, ms";
  found.best = first ? 1 : record.candidates.size();
  found.reason = std::string("predict is the ") + (first ? "first" : "last") +
                 " candidate and the numbers " + (numbers.ascending() ? "rise" : "fall");
  return found;
}

}  // namespace

const char* DirectionName(Direction direction) {
  switch (direction) {
    case Direction::kNone:
      return "none";
    case Direction::kUnmeasured:
      return "unmeasured";
    case Direction::kUndecidable:
      return "undecidable";
    case Direction::kLower:
      return "lower";
    case Direction::kHigher:
      return "higher";
  }
  return "none";
}

bool IsMeasured(const PerfCandidate& candidate) {
  const auto measure = MeasureOf(candidate);
  return measure.has_value() && *measure != 0;
}

Performance JudgePerformance(const MemRecord& record, const JsonlRecord* jsonl) {
  if (record.candidates.empty()) return {Direction::kNone, "", "there is no perf candidate", 0};
  const Numbers numbers = NumbersOf(record);
  if (numbers.values.empty()) {
    return {Direction::kUnmeasured, "", "no candidate has a number other than 0", 0};
  }
  if (jsonl != nullptr) {
    const auto speedup = NumberOf(jsonl->speedup);
    if (speedup.has_value() && *speedup != 0) {
      Performance found = BySpeedup(record, *speedup);
      if (found.best != 0) return found;
    }
    if (jsonl->predict.text() && record.candidates.size() > 1) {
      Performance found = ByPredict(record, *jsonl, numbers);
      if (found.best != 0) return found;
    }
  }
  if (record.ms.kind != RawValue::Kind::kMissing && jsonl != nullptr && jsonl->named_by_file &&
      jsonl->has_target_kernel_name) {
    const auto best = std::max_element(numbers.values.begin(), numbers.values.end());
    return {Direction::kHigher, "speedup", "schema A of a ROCm run, where ms is a speedup",
            numbers.places[static_cast<size_t>(best - numbers.values.begin())]};
  }
  if (record.ms.kind != RawValue::Kind::kMissing) {
    const auto best = std::min_element(numbers.values.begin(), numbers.values.end());
    return {Direction::kLower, "latency, ms", "schema A has ms",
            numbers.places[static_cast<size_t>(best - numbers.values.begin())]};
  }
  return {Direction::kUndecidable, "unknown", "nothing in the files tells whether more is better",
          0};
}

}  // namespace kerf::dataset
