// One case's line of the jsonl file (docs/formats/dataset.md). All views into the file.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/record_cursor.h"

namespace kerf::dataset {

struct JsonlRecord {
  uint64_t begin = 0;  // of the object, in bytes from the start of the file
  uint64_t end = 0;
  uint64_t line = 0;  // from 1
  RawValue name;      // `filename`, else `file`
  bool named_by_file = false;
  RawValue instruction;  // or `prompt`
  RawValue label;        // or `output`
  RawValue predict;
  RawValue test_code;
  RawValue speedup;
  bool has_target_kernel_name = false;
  bool has_output = false;
  int members = 0;
};

// Reads the object at the cursor; false when it is broken, and then the cursor knows why.
bool ReadJsonlRecord(RecordCursor& cursor, JsonlRecord& record);

// The case's name: what the record says, else "line_N".
std::string NameOf(const JsonlRecord& record);

}  // namespace kerf::dataset
