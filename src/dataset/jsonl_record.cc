#include "dataset/jsonl_record.h"

#include "dataset/text.h"

namespace kerf::dataset {

bool ReadJsonlRecord(RecordCursor& cursor, JsonlRecord& record) {
  record = JsonlRecord{};
  cursor.SkipSpace();
  record.begin = cursor.offset();
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key); ++record.members) {
    const RawValue value = cursor.Read();
    if (key == "filename") {
      record.name = value;
      record.named_by_file = false;
    } else if (key == "file") {
      if (record.name.missing()) {
        record.name = value;
        record.named_by_file = true;
      }
    } else if (key == "instruction" || (key == "prompt" && record.instruction.missing())) {
      record.instruction = value;
    } else if (key == "label") {
      record.label = value;
    } else if (key == "output") {
      record.has_output = true;
      if (record.label.missing()) record.label = value;
    } else if (key == "predict") {
      record.predict = value;
    } else if (key == "test_code") {
      record.test_code = value;
    } else if (key == "speedup") {
      record.speedup = value;
    } else if (key == "target_kernel_name") {
      record.has_target_kernel_name = true;
    }
  }
  record.end = cursor.offset();
  return cursor.ok();
}

std::string NameOf(const JsonlRecord& record) {
  if (record.name.text()) return Decoded(record.name.raw);
  return "line_" + std::to_string(record.line);
}

}  // namespace kerf::dataset
