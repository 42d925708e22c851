// One case's record in the mem file: the log of what the run tried (docs/formats/dataset.md). All
// views into the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataset/record_cursor.h"

namespace kerf::dataset {

enum class Flag { kUnknown, kFalse, kTrue };

struct PerfCandidate {
  bool known = false;  // false: of a shape nobody knows; then only `raw` is set
  RawValue code;
  std::vector<RawValue> numbers;  // between code and report: a number, a list or null each
  RawValue report;
  std::string_view raw;
};

struct MemRecord {
  uint64_t begin = 0;  // of the value, not of its name
  uint64_t end = 0;
  RawValue call_err_msg;
  RawValue exe_err_msg;
  RawValue err_msg;  // schema D
  RawValue reflection;
  RawValue oneshot;
  RawValue call_candidate;
  RawValue exe_candidate;
  RawValue temp_strategy;
  RawValue perf_strategy;
  RawValue perf_debug_num;
  RawValue ms;
  RawValue efficiency;
  RawValue raw_flags[3];  // pass_call, pass_exe, pass_perf
  bool has_candidates = false;
  std::vector<PerfCandidate> candidates;
};

inline constexpr const char* kFlagNames[3] = {"pass_call", "pass_exe", "pass_perf"};

// Reads the object at the cursor; false when it is broken, and then the cursor knows why.
bool ReadMemRecord(RecordCursor& cursor, MemRecord& record);

// 0, 1, "true" and "True" count, too, but are odd.
Flag FlagOf(const RawValue& value, bool& odd);

// The first number of a candidate; nullopt when it has none, or a list, or one JSON cannot hold.
std::optional<double> MeasureOf(const PerfCandidate& candidate);

}  // namespace kerf::dataset
