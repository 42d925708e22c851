// All cases of a data set, joined by name, each with what its record says about it: small entries,
// whatever the size of the files.
//
//   KERF_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::Read(jsonl, &mem, options));
//   for (const CaseEntry& entry : catalog.cases()) …
//
// Two threads read the two files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/diagnosis.h"
#include "dataset/mapped_file.h"
#include "dataset/mem_record.h"
#include "dataset/problem.h"
#include "dataset/schema.h"

namespace kerf::dataset {

enum class LastStatus { kUnknown, kCall, kExe, kPerf, kSuccess };
enum class BestStatus { kNothing, kCall, kExe, kMeasured };

// "unknown", "call", "exe", "perf", "success"; and "nothing", "call", "exe", "measured".
const char* LastStatusName(LastStatus status);
const char* BestStatusName(BestStatus status);

struct CaseEntry {
  std::string name;
  // The record's place in its file; end is 0 when there is none. A later record of the same name
  // replaced an earlier one.
  uint64_t jsonl_begin = 0;
  uint64_t jsonl_end = 0;
  uint64_t jsonl_line = 0;
  uint64_t mem_begin = 0;
  uint64_t mem_end = 0;
  Flag flags[3] = {Flag::kUnknown, Flag::kUnknown, Flag::kUnknown};
  LastStatus last = LastStatus::kUnknown;
  BestStatus best = BestStatus::kNothing;
  Diagnosis diagnosis;
  uint32_t candidates = 0;

  [[nodiscard]] bool has_jsonl() const { return jsonl_end > 0; }
  [[nodiscard]] bool has_mem() const { return mem_end > 0; }
  [[nodiscard]] bool failed() const {
    return last == LastStatus::kCall || last == LastStatus::kExe || last == LastStatus::kPerf;
  }
};

struct SchemaReport {
  Schema jsonl;
  // Of mem records: variant → how many, and the reason given for the first of them.
  std::map<std::string, std::pair<uint64_t, std::string>> mem;
};

class Catalog {
 public:
  // `mem` may be null. The symbol check may be empty; it is asked only where no error text tells.
  static Result<Catalog> Read(const MappedFile& jsonl, const MappedFile* mem,
                              const SymbolCheck& symbols);

  // In the order of the mem file, then those of the jsonl alone.
  [[nodiscard]] const std::vector<CaseEntry>& cases() const { return cases_; }
  [[nodiscard]] const SchemaReport& schema() const { return schema_; }
  [[nodiscard]] const Problems& problems() const { return problems_; }

 private:
  std::vector<CaseEntry> cases_;
  SchemaReport schema_;
  Problems problems_;
};

// Reads one case's records again. The entry must come from these files.
JsonlRecord ReadJsonlOf(const CaseEntry& entry, const MappedFile& jsonl);
MemRecord ReadMemOf(const CaseEntry& entry, const MappedFile& mem);

// Judges a record as the catalog does.
LastStatus LastStatusOf(const Flag flags[3]);
BestStatus BestStatusOf(const MemRecord& record);
Diagnosis DiagnoseRecord(const MemRecord& record, LastStatus last);

}  // namespace kerf::dataset
