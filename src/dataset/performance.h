// What the numbers of a case's candidates mean. Which direction is better is not in the file; it is
// told only where something proves it (docs/formats/dataset.md, Meanings).
#pragma once

#include <cstddef>
#include <string>

#include "dataset/jsonl_record.h"
#include "dataset/mem_record.h"

namespace kerf::dataset {

enum class Direction { kNone, kUnmeasured, kUndecidable, kLower, kHigher };

// "none", "unmeasured", "undecidable", "lower", "higher"
const char* DirectionName(Direction direction);

struct Performance {
  Direction direction = Direction::kNone;
  std::string meaning;  // "speedup", "latency, ms", "unknown"
  std::string reason;
  size_t best = 0;  // from 1; 0: none, or not to be told
};

// `jsonl` may be null.
Performance JudgePerformance(const MemRecord& record, const JsonlRecord* jsonl);

// Whether a candidate carries a number that is a measurement: there, and not the 0 of a default.
bool IsMeasured(const PerfCandidate& candidate);

}  // namespace kerf::dataset
