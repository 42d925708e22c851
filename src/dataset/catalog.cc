#include "dataset/catalog.h"

#include <optional>
#include <thread>
#include <unordered_map>

#include "dataset/data_file.h"
#include "dataset/language.h"
#include "dataset/performance.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

// What reading one file alone gives. Names are unique: the last record of a name counts.
struct FileIndex {
  std::vector<CaseEntry> entries;
  std::unordered_map<std::string, size_t> by_name;
  Problems problems;
  SchemaReport schema;
  // Of mem records that B and C share: whether an error text settled it.
  std::vector<bool> shared;
  std::vector<bool> speedup;

  // The entry of that name, a new one or the one to replace.
  size_t Place(const std::string& name, const std::string& file, uint64_t offset, uint64_t line) {
    const auto [found, fresh] = by_name.try_emplace(name, entries.size());
    if (fresh) {
      entries.emplace_back();
      shared.push_back(false);
      speedup.push_back(false);
    } else {
      problems.Add({file, offset, line, name, "this name was there before; the last one counts"});
    }
    entries[found->second] = CaseEntry{};
    entries[found->second].name = name;
    return found->second;
  }
};

void ReadJsonlIndex(const MappedFile& file, FileIndex& index) {
  JsonlReader reader(file, index.problems);
  JsonlRecord record;
  while (reader.Next(record)) {
    if (index.schema.jsonl.variant.empty() || index.schema.jsonl.variant == "unknown") {
      index.schema.jsonl = JsonlSchema(record);
    }
    if (!record.name.text()) {
      if (index.schema.jsonl.variant != "model_output") {
        index.problems.Add({file.path(), record.begin, record.line, "",
                            "neither filename nor file is a text; skipped"});
        continue;
      }
    }
    for (const auto& [field, value] : {std::pair("predict", &record.predict),
                                       {"label", &record.label},
                                       {"instruction", &record.instruction},
                                       {"test_code", &record.test_code}}) {
      if (value->missing() || value->text()) continue;
      index.problems.Add({file.path(), record.begin, record.line, NameOf(record),
                          std::string(field) + " is no text; left out"});
    }
    const size_t place = index.Place(NameOf(record), file.path(), record.begin, record.line);
    CaseEntry& entry = index.entries[place];
    entry.jsonl_begin = record.begin;
    entry.jsonl_end = record.end;
    entry.jsonl_line = record.line;
    index.speedup[place] = record.speedup.kind != RawValue::Kind::kMissing;
  }
}

void NoteOddities(const MappedFile& file, const MemRecord& record, const std::string& name,
                  Problems& problems) {
  const auto note = [&](std::string what) {
    problems.Add({file.path(), record.begin, 0, name, std::move(what)});
  };
  for (int flag = 0; flag < 3; ++flag) {
    bool odd = false;
    const Flag value = FlagOf(record.raw_flags[flag], odd);
    if (!odd) continue;
    note(std::string(kFlagNames[flag]) + " is no JSON boolean; taken as " +
         (value == Flag::kUnknown ? "unknown" : (value == Flag::kTrue ? "true" : "false")));
  }
  for (size_t i = 0; i < record.candidates.size(); ++i) {
    const PerfCandidate& candidate = record.candidates[i];
    const std::string which = "perf candidate " + std::to_string(i + 1);
    if (!candidate.known) {
      note(which + (candidate.code.missing() ? " is of unknown shape; left out"
                                             : " has code that is no text; left out"));
    }
    for (const RawValue& number : candidate.numbers) {
      if (number.kind == RawValue::Kind::kNumber && !NumberOf(number).has_value()) {
        note(which + ": " + std::string(number.raw) + " is no number JSON can hold; taken as none");
      }
    }
  }
  for (const auto& [field, value] : {std::pair("call_candidate", &record.call_candidate),
                                     {"exe_candidate", &record.exe_candidate}}) {
    if (!value->missing() && !value->text()) note(std::string(field) + " is no text; left out");
  }
}

Status ReadMemIndex(const MappedFile& file, FileIndex& index) {
  MemReader reader(file, index.problems);
  KERF_RETURN_IF_ERROR(reader.Begin());
  std::string name;
  MemRecord record;
  while (reader.Next(name, record)) {
    const size_t place = index.Place(name, file.path(), record.begin, 0);
    CaseEntry& entry = index.entries[place];
    entry.mem_begin = record.begin;
    entry.mem_end = record.end;
    bool odd = false;
    for (int flag = 0; flag < 3; ++flag) entry.flags[flag] = FlagOf(record.raw_flags[flag], odd);
    NoteOddities(file, record, name, index.problems);
    entry.last = LastStatusOf(entry.flags);
    entry.best = BestStatusOf(record);
    entry.candidates = static_cast<uint32_t>(record.candidates.size());
    entry.diagnosis = DiagnoseRecord(record, entry.last);
    const Schema schema = MemSchema(record, nullptr);
    index.shared[place] = schema.variant == "B or C";
    if (index.shared[place]) continue;
    auto& [count, reason] = index.schema.mem[schema.variant];
    ++count;
    reason = schema.reason;
  }
  return {};
}

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
  Status mem_status;
  std::thread jsonl_thread([&] { ReadJsonlIndex(jsonl, from_jsonl); });
  if (mem != nullptr) mem_status = ReadMemIndex(*mem, from_mem);
  jsonl_thread.join();
  KERF_RETURN_IF_ERROR(mem_status);
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
