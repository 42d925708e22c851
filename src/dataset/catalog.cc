#include "dataset/catalog.h"

#include <optional>

#include "dataset/file_index.h"
#include "dataset/language.h"
#include "dataset/performance.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

class Joiner {
 public:
  Joiner(const MappedFile& jsonl, const MappedFile* mem, const SymbolCheck& symbols)
      : jsonl_(jsonl), mem_(mem), symbols_(symbols) {}

  void Join(FileIndex& from_jsonl, FileIndex& from_mem, std::vector<CaseEntry>& cases,
            SchemaReport& schema, Problems& problems) {
    cases = std::move(from_mem.entries);
    for (size_t i = 0; i < from_jsonl.entries.size(); ++i) {
      const CaseEntry& line = from_jsonl.entries[i];
      const auto found = from_mem.by_name.find(line.name);
      if (found == from_mem.by_name.end()) {
        cases.push_back(line);
        if (mem_ != nullptr) {
          problems.Add(
              {jsonl_.path(), line.jsonl_begin, line.jsonl_line, line.name, "not in the mem file"});
        }
        continue;
      }
      CaseEntry& entry = cases[found->second];
      entry.jsonl_begin = line.jsonl_begin;
      entry.jsonl_end = line.jsonl_end;
      entry.jsonl_line = line.jsonl_line;
    }
    for (CaseEntry& entry : cases) {
      if (!entry.has_mem()) continue;
      if (!entry.has_jsonl()) {
        problems.Add({mem_->path(), entry.mem_begin, 0, entry.name, "not in the jsonl file"});
      }
      AskSymbols(entry);
    }
    CountShared(from_jsonl, from_mem, cases, schema);
  }

 private:
  // Nothing was said about why it could not be called: do the names meet?
  void AskSymbols(CaseEntry& entry) {
    if (entry.diagnosis.source != "flags" || entry.last != LastStatus::kCall || !symbols_ ||
        !entry.has_jsonl()) {
      return;
    }
    const JsonlRecord record = ReadJsonlOf(entry, jsonl_);
    if (!record.predict.text() || !record.test_code.text()) return;
    if (!IsCpp(DetectLanguage(record.predict.raw))) return;
    const std::optional<std::string> found =
        symbols_(Decoded(record.predict.raw), Decoded(record.test_code.raw));
    if (!found.has_value()) return;
    entry.diagnosis = {DiagnosisKind::kSymbolError, found->substr(0, found->find('\n')), "names",
                       "", *found};
  }

  // The mem records that two generations of writers share: what the jsonl tells about them.
  void CountShared(const FileIndex& from_jsonl, const FileIndex& from_mem,
                   const std::vector<CaseEntry>& cases, SchemaReport& schema) {
    for (size_t i = 0; i < from_mem.shared.size(); ++i) {
      if (!from_mem.shared[i]) continue;
      const auto found = from_jsonl.by_name.find(cases[i].name);
      Schema told;
      if (found == from_jsonl.by_name.end()) {
        told = {"B or C", "temp_strategy, and nothing that tells the two apart"};
      } else if (from_jsonl.speedup[found->second]) {
        told = {"C", "temp_strategy, and the jsonl has speedup"};
      } else {
        const JsonlRecord record = ReadJsonlOf(cases[i], jsonl_);
        told = MemSchema(ReadMemOf(cases[i], *mem_), &record);
      }
      auto& [count, reason] = schema.mem[told.variant];
      ++count;
      reason = told.reason;
    }
  }

  const MappedFile& jsonl_;
  const MappedFile* mem_;
  const SymbolCheck& symbols_;
};

}  // namespace

const char* LastStatusName(LastStatus status) {
  switch (status) {
    case LastStatus::kCall:
      return "call";
    case LastStatus::kExe:
      return "exe";
    case LastStatus::kPerf:
      return "perf";
    case LastStatus::kSuccess:
      return "success";
    case LastStatus::kUnknown:
      return "unknown";
  }
  return "unknown";
}

const char* BestStatusName(BestStatus status) {
  switch (status) {
    case BestStatus::kMeasured:
      return "measured";
    case BestStatus::kExe:
      return "exe";
    case BestStatus::kCall:
      return "call";
    case BestStatus::kNothing:
      return "nothing";
  }
  return "nothing";
}

LastStatus LastStatusOf(const Flag flags[3]) {
  if (flags[0] == Flag::kFalse) return LastStatus::kCall;
  if (flags[1] == Flag::kFalse) return LastStatus::kExe;
  if (flags[2] == Flag::kFalse) return LastStatus::kPerf;
  const bool all = flags[0] == Flag::kTrue && flags[1] == Flag::kTrue && flags[2] == Flag::kTrue;
  return all ? LastStatus::kSuccess : LastStatus::kUnknown;
}

BestStatus BestStatusOf(const MemRecord& record) {
  for (const PerfCandidate& candidate : record.candidates) {
    if (candidate.known && IsMeasured(candidate)) return BestStatus::kMeasured;
  }
  for (const PerfCandidate& candidate : record.candidates) {
    if (candidate.known) return BestStatus::kExe;
  }
  if (record.exe_candidate.text() && HasContentOrNone(record.exe_candidate.raw)) {
    return BestStatus::kExe;
  }
  if (record.call_candidate.text() && HasContentOrNone(record.call_candidate.raw)) {
    return BestStatus::kCall;
  }
  return BestStatus::kNothing;
}

Diagnosis DiagnoseRecord(const MemRecord& record, LastStatus last) {
  if (last == LastStatus::kSuccess || last == LastStatus::kUnknown) return {};
  const bool stale = last == LastStatus::kPerf && record.ms.kind != RawValue::Kind::kMissing;
  Diagnosis found;
  if (!stale) {
    for (const auto& [source, value] : {std::pair("call_err_msg", &record.call_err_msg),
                                        {"exe_err_msg", &record.exe_err_msg},
                                        {"err_msg", &record.err_msg}}) {
      if (!value->text() || !HasContentOrNone(value->raw)) continue;
      found = MoreTelling(found, DiagnoseText(Decoded(value->raw), source));
    }
  }
  if (found.kind != DiagnosisKind::kNone) return found;
  if (last == LastStatus::kPerf) {
    return {DiagnosisKind::kNotMeasured, "pass_perf is false and there is no error text", "flags",
            "", ""};
  }
  return {DiagnosisKind::kUnknown,
          std::string(last == LastStatus::kCall ? "pass_call" : "pass_exe") +
              " is false and there is no error text",
          "flags", "", ""};
}

JsonlRecord ReadJsonlOf(const CaseEntry& entry, const MappedFile& jsonl) {
  JsonlRecord record;
  if (!entry.has_jsonl()) return record;
  RecordCursor cursor(jsonl.bytes().substr(0, entry.jsonl_end), entry.jsonl_begin);
  ReadJsonlRecord(cursor, record);
  record.line = entry.jsonl_line;
  return record;
}

MemRecord ReadMemOf(const CaseEntry& entry, const MappedFile& mem) {
  MemRecord record;
  if (!entry.has_mem()) return record;
  RecordCursor cursor(mem.bytes().substr(0, entry.mem_end), entry.mem_begin);
  ReadMemRecord(cursor, record);
  return record;
}

Result<Catalog> Catalog::Read(const MappedFile& jsonl, const MappedFile* mem,
                              const SymbolCheck& symbols) {
  FileIndex from_jsonl;
  FileIndex from_mem;
  KERF_RETURN_IF_ERROR(ReadIndexes(jsonl, mem, from_jsonl, from_mem));
  Catalog catalog;
  catalog.problems_.Append(from_jsonl.problems);
  catalog.problems_.Append(from_mem.problems);
  catalog.schema_.jsonl = from_jsonl.schema.jsonl;
  catalog.schema_.mem = from_mem.schema.mem;
  Joiner(jsonl, mem, symbols)
      .Join(from_jsonl, from_mem, catalog.cases_, catalog.schema_, catalog.problems_);
  return catalog;
}

}  // namespace kerf::dataset
