// What one file of a data set alone tells about its cases; the two are joined by catalog.cc.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "dataset/catalog.h"

namespace kerf::dataset {

struct FileIndex {
  // Names are unique: the last record of a name counts.
  std::vector<CaseEntry> entries;
  std::unordered_map<std::string, size_t> by_name;
  Problems problems;
  SchemaReport schema;
  std::vector<bool> shared;   // mem records whose members B and C have in common
  std::vector<bool> speedup;  // jsonl records that have the member
};

// Reads both files, in parts, by as many threads as there are processors, up to 8. `mem` may be
// null. Fails when the mem file is no object. `part_bytes` makes no difference but in speed.
Status ReadIndexes(const MappedFile& jsonl, const MappedFile* mem, FileIndex& from_jsonl,
                   FileIndex& from_mem, size_t part_bytes = size_t{8} << 20);

}  // namespace kerf::dataset
