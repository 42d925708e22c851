#include "dataset/mem_record.h"

#include "dataset/text.h"

namespace kerf::dataset {
namespace {

struct Member {
  std::string_view name;
  RawValue MemRecord::*field;
};

constexpr Member kMembers[] = {
    {"call_err_msg", &MemRecord::call_err_msg},
    {"exe_err_msg", &MemRecord::exe_err_msg},
    {"err_msg", &MemRecord::err_msg},
    {"reflection", &MemRecord::reflection},
    {"oneshot", &MemRecord::oneshot},
    {"call_candidate", &MemRecord::call_candidate},
    {"exe_candidate", &MemRecord::exe_candidate},
    {"temp_strategy", &MemRecord::temp_strategy},
    {"perf_strategy", &MemRecord::perf_strategy},
    {"perf_debug_num", &MemRecord::perf_debug_num},
    {"ms", &MemRecord::ms},
    {"efficiency", &MemRecord::efficiency},
};

// One element of `perf_candidates`: [code, number, number, report, …] or [[code, …], …].
PerfCandidate ReadCandidate(RecordCursor& cursor) {
  const std::string_view text = cursor.text();
  PerfCandidate candidate;
  cursor.SkipSpace();
  const size_t begin = cursor.offset();
  if (cursor.Peek() != JsonType::kArray) {
    cursor.Skip();
    candidate.raw = text.substr(begin, cursor.offset() - begin);
    return candidate;
  }
  size_t at = 0;
  for (cursor.BeginArray(); cursor.NextElement(); ++at) {
    const RawValue value = cursor.Read();
    if (at == 0) {
      candidate.code = value;
    } else if (value.text() && candidate.report.missing()) {
      candidate.report = value;
    } else if (candidate.report.missing()) {
      candidate.numbers.push_back(value);
    }
  }
  candidate.raw = text.substr(begin, cursor.offset() - begin);
  if (candidate.code.kind == RawValue::Kind::kOther && candidate.code.raw.starts_with('[')) {
    RecordCursor inner(candidate.code.raw);
    inner.BeginArray();
    if (inner.NextElement()) candidate.code = inner.Read();
  }
  candidate.known = candidate.code.text();
  return candidate;
}

}  // namespace

bool ReadMemRecord(RecordCursor& cursor, MemRecord& record) {
  std::vector<PerfCandidate> candidates = std::move(record.candidates);
  candidates.clear();
  record = MemRecord{};
  record.candidates = std::move(candidates);
  cursor.SkipSpace();
  record.begin = cursor.offset();
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    if (key == "perf_candidates" && cursor.Peek() == JsonType::kArray) {
      record.has_candidates = true;
      for (cursor.BeginArray(); cursor.NextElement();) {
        record.candidates.push_back(ReadCandidate(cursor));
      }
      continue;
    }
    const RawValue value = cursor.Read();
    for (const Member& member : kMembers) {
      if (key == member.name) record.*(member.field) = value;
    }
    for (int flag = 0; flag < 3; ++flag) {
      if (key == kFlagNames[flag]) record.raw_flags[flag] = value;
    }
  }
  record.end = cursor.offset();
  return cursor.ok();
}

Flag FlagOf(const RawValue& value, bool& odd) {
  if (value.missing()) return Flag::kUnknown;
  if (value.kind == RawValue::Kind::kBool) return value.raw == "true" ? Flag::kTrue : Flag::kFalse;
  odd = true;
  const std::string_view raw = value.raw;
  if (value.kind == RawValue::Kind::kNumber && (raw == "0" || raw == "1")) {
    return raw == "1" ? Flag::kTrue : Flag::kFalse;
  }
  if (value.text() && (raw == "true" || raw == "True")) return Flag::kTrue;
  if (value.text() && (raw == "false" || raw == "False")) return Flag::kFalse;
  return Flag::kUnknown;
}

std::optional<double> MeasureOf(const PerfCandidate& candidate) {
  if (candidate.numbers.empty()) return std::nullopt;
  return NumberOf(candidate.numbers.front());
}

}  // namespace kerf::dataset
