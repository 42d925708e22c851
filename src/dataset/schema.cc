#include "dataset/schema.h"

#include "dataset/language.h"
#include "dataset/performance.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

bool HasErrorText(const MemRecord& record) {
  return (record.call_err_msg.text() && HasContentOrNone(record.call_err_msg.raw)) ||
         (record.exe_err_msg.text() && HasContentOrNone(record.exe_err_msg.raw));
}

// GaAgent's writers of two generations have the same members.
Schema TellBFromC(const MemRecord& record, const JsonlRecord* jsonl) {
  if (jsonl != nullptr && jsonl->speedup.kind != RawValue::Kind::kMissing) {
    return {"C", "temp_strategy, and the jsonl has speedup"};
  }
  if (HasErrorText(record)) {
    return {"C", "temp_strategy, and an error text, which B never writes"};
  }
  if (jsonl != nullptr && jsonl->predict.text() && record.candidates.size() > 1) {
    const Performance found = JudgePerformance(record, jsonl);
    const size_t last = record.candidates.size();
    if (found.direction == Direction::kLower && found.best == last) {
      return {"B",
              "temp_strategy, and predict is the last candidate, whose number is the smallest"};
    }
    if (found.direction == Direction::kHigher && found.best == 1) {
      return {"C",
              "temp_strategy, and predict is the first candidate, whose number is the largest"};
    }
  }
  return {"B or C", "temp_strategy, and nothing that tells the two apart"};
}

}  // namespace

Schema JsonlSchema(const JsonlRecord& record) {
  const bool speedup = record.speedup.kind != RawValue::Kind::kMissing;
  const bool named = record.name.text();
  if (named && !record.named_by_file && record.name.raw.starts_with('/') &&
      record.test_code.text() && IsCpp(DetectLanguage(record.test_code.raw))) {
    return {"hipbench", "filename is an absolute path and test_code is C++"};
  }
  if (named && record.named_by_file && !record.has_output) {
    if (speedup) return {"rocm_v2", "file and speedup"};
    if (record.has_target_kernel_name) {
      return {"rocm_v1", "file and target_kernel_name, no speedup"};
    }
  }
  if (record.has_output) return {"alpaca", "output in place of label"};
  if (named && speedup) return {"tritonbench_v2", "filename and speedup"};
  if (named && record.members == 3 && record.label.text() && record.test_code.text()) {
    return {"classified", "label, filename and test_code alone"};
  }
  if (named && (!record.predict.missing() || !record.instruction.missing())) {
    return {"tritonbench_v1", "filename, no speedup"};
  }
  if (!named && !record.instruction.missing()) {
    return {"model_output", "instruction or prompt, and no name"};
  }
  return {"unknown", "none of the known sets of members"};
}

Schema MemSchema(const MemRecord& record, const JsonlRecord* jsonl) {
  if (record.ms.kind != RawValue::Kind::kMissing ||
      record.efficiency.kind != RawValue::Kind::kMissing) {
    return {"A", "ms and efficiency"};
  }
  if (record.err_msg.kind != RawValue::Kind::kMissing &&
      record.call_err_msg.kind == RawValue::Kind::kMissing) {
    return {"D", "err_msg in place of call_err_msg"};
  }
  if (record.temp_strategy.kind != RawValue::Kind::kMissing) return TellBFromC(record, jsonl);
  return {"unknown", "none of the known sets of members"};
}

}  // namespace kerf::dataset
