// A data set over its iterations: when flags flipped, when the best improved, which candidates were
// new.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "dataset/catalog.h"
#include "dataset/performance.h"

namespace kerf::dataset {

struct HistoryPoint {
  int64_t iteration = 0;
  bool present = false;  // in the mem file of that iteration
  Flag flags[3] = {Flag::kUnknown, Flag::kUnknown, Flag::kUnknown};
  LastStatus last = LastStatus::kUnknown;
  BestStatus best = BestStatus::kNothing;
  std::optional<double> measure;  // of the best candidate, where that can be told
  Direction direction = Direction::kNone;
  uint32_t candidates = 0;
  uint32_t fresh = 0;  // codes that no iteration before had
};

struct HistoryEvent {
  int64_t iteration = 0;
  std::string what;  // "pass_call true → false", "best 1.08 → 1.31", "best ever exe → measured"
};

struct CaseHistory {
  std::string name;
  std::vector<HistoryPoint> points;  // one for each iteration
  std::vector<HistoryEvent> events;
  uint64_t codes = 0;  // different ones over all iterations
};

struct History {
  std::vector<int64_t> iterations;
  std::vector<CaseHistory> cases;
  Problems problems;
  // Of each iteration, how many cases had which status: LastStatus in its order.
  std::vector<std::vector<uint64_t>> counts;
};

// Iteration numbers N for which ROOT_N.jsonl or ROOT_mem_N.json is there, sorted.
Result<std::vector<int64_t>> FindIterations(FileSystem& fs, const std::string& root);

Result<History> ReadHistory(FileSystem& fs, const std::string& root);

// A picture of the counts and of the measures, as an SVG document.
std::string HistoryPlot(const History& history);

}  // namespace kerf::dataset
