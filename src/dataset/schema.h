// Which tool wrote a record, told by its members (docs/formats/dataset.md, Variants).
#pragma once

#include <string>

#include "dataset/jsonl_record.h"
#include "dataset/mem_record.h"

namespace kerf::dataset {

struct Schema {
  std::string variant;  // "tritonbench_v2", "C", "B or C", "unknown"
  std::string reason;
};

Schema JsonlSchema(const JsonlRecord& record);
// `jsonl` may be null: the mem record then stands alone.
Schema MemSchema(const MemRecord& record, const JsonlRecord* jsonl);

}  // namespace kerf::dataset
