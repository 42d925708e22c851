// Each file is cut into parts at places that look like the beginning of a record. The parts are
// read at once, and then put together in order: a part counts when the one before it ended exactly
// where it began. Otherwise the guess was wrong (the place was inside a text or a nested object),
// and the part is read again from where the one before it ended.
#include "dataset/file_index.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "dataset/data_file.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

struct IndexedCase {
  CaseEntry entry;
  bool shared = false;
  bool speedup = false;
};

struct IndexedPart {
  Part part;
  size_t end = 0;  // where the next record begins
  std::vector<IndexedCase> cases;
  Problems problems;
  SchemaReport schema;
  uint64_t lines = 0;
  Status status;
};

void NoteTexts(const MappedFile& file, const JsonlRecord& record, Problems& problems) {
  for (const auto& [field, value] : {std::pair("predict", &record.predict),
                                     {"label", &record.label},
                                     {"instruction", &record.instruction},
                                     {"test_code", &record.test_code}}) {
    if (value->missing() || value->text()) continue;
    problems.Add({file.path(), record.begin, record.line, NameOf(record),
                  std::string(field) + " is no text; left out"});
  }
}

void ReadJsonlPart(const MappedFile& file, IndexedPart& out) {
  file.Expect(out.part.begin, out.part.stop);
  JsonlReader reader(file, out.problems, out.part);
  JsonlRecord record;
  Schema& schema = out.schema.jsonl;
  while (reader.Next(record)) {
    if (schema.variant.empty() || schema.variant == "unknown") schema = JsonlSchema(record);
    // Names made from line numbers need the whole file before them: such files are read in one
    // part.
    if (!record.name.text() && schema.variant != "model_output") {
      out.problems.Add({file.path(), record.begin, record.line, "",
                        "neither filename nor file is a text; skipped"});
      continue;
    }
    NoteTexts(file, record, out.problems);
    IndexedCase& found = out.cases.emplace_back();
    found.entry.name = NameOf(record);
    found.entry.jsonl_begin = record.begin;
    found.entry.jsonl_end = record.end;
    found.entry.jsonl_line = record.line;
    found.speedup = record.speedup.kind != RawValue::Kind::kMissing;
  }
  out.end = reader.position();
  out.lines = reader.lines();
  file.Release(out.part.begin, out.end);
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

void ReadMemPart(const MappedFile& file, IndexedPart& out) {
  file.Expect(out.part.begin, out.part.stop);
  MemReader reader(file, out.problems, out.part);
  out.status = reader.Begin();
  if (!out.status.ok()) return;
  std::string name;
  MemRecord record;
  while (reader.Next(name, record)) {
    IndexedCase& found = out.cases.emplace_back();
    CaseEntry& entry = found.entry;
    entry.name = name;
    entry.mem_begin = record.begin;
    entry.mem_end = record.end;
    bool odd = false;
    for (int flag = 0; flag < 3; ++flag) entry.flags[flag] = FlagOf(record.raw_flags[flag], odd);
    NoteOddities(file, record, name, out.problems);
    entry.last = LastStatusOf(entry.flags);
    entry.best = BestStatusOf(record);
    entry.candidates = static_cast<uint32_t>(record.candidates.size());
    entry.diagnosis = DiagnoseRecord(record, entry.last);
    const Schema schema = MemSchema(record, nullptr);
    found.shared = schema.variant == "B or C";
    if (found.shared) continue;
    auto& [count, reason] = out.schema.mem[schema.variant];
    ++count;
    reason = schema.reason;
  }
  out.end = reader.position();
  file.Release(out.part.begin, out.end);
}

// Where a file may be cut. An array, or records without names, are read in one part.
std::vector<IndexedPart> CutFile(const MappedFile& file, bool jsonl, size_t part_bytes) {
  const std::string_view text = file.bytes();
  std::vector<IndexedPart> parts(1);
  if (jsonl) {
    Problems ignored;
    JsonlReader reader(file, ignored, {0, 1});
    JsonlRecord first;
    (void)reader.Next(first);
    RecordCursor cursor(text, reader.position());
    if (cursor.Peek() != JsonType::kObject && first.end == 0) return parts;
    if (first.end > 0 && (text[0] == '[' || !first.name.text())) return parts;
  }
  for (size_t at = part_bytes; at + part_bytes / 2 < text.size(); at += part_bytes) {
    const size_t begin = jsonl ? GuessJsonlRecord(text, at) : GuessMemRecord(text, at);
    if (begin == std::string_view::npos) break;
    if (begin <= parts.back().part.begin) continue;
    parts.back().part.stop = begin;
    parts.emplace_back().part.begin = begin;
    at = std::max(at, begin);
  }
  return parts;
}

class Merger {
 public:
  Merger(const MappedFile& file, FileIndex& index) : file_(file), index_(index) {}

  void Add(IndexedPart& part) {
    for (IndexedCase& found : part.cases) {
      if (found.entry.jsonl_line > 0) found.entry.jsonl_line += lines_;
      AddCase(found);
    }
    for (Problem problem : part.problems.kept()) {
      if (problem.line > 0) problem.line += lines_;
      index_.problems.Add(std::move(problem));
    }
    if (index_.schema.jsonl.variant.empty() || index_.schema.jsonl.variant == "unknown") {
      index_.schema.jsonl = part.schema.jsonl;
    }
    for (const auto& [variant, found] : part.schema.mem) {
      auto& [count, reason] = index_.schema.mem[variant];
      count += found.first;
      reason = found.second;
    }
    lines_ += part.lines;
  }

 private:
  void AddCase(IndexedCase& found) {
    CaseEntry& entry = found.entry;
    const auto [place, fresh] = index_.by_name.try_emplace(entry.name, index_.entries.size());
    if (fresh) {
      index_.entries.push_back(std::move(entry));
      index_.shared.push_back(found.shared);
      index_.speedup.push_back(found.speedup);
      return;
    }
    const uint64_t offset = entry.mem_end > 0 ? entry.mem_begin : entry.jsonl_begin;
    index_.problems.Add({file_.path(), offset, entry.jsonl_line, entry.name,
                         "this name was there before; the last one counts"});
    index_.entries[place->second] = std::move(entry);
    index_.shared[place->second] = found.shared;
    index_.speedup[place->second] = found.speedup;
  }

  const MappedFile& file_;
  FileIndex& index_;
  uint64_t lines_ = 0;
};

using ReadPart = void (*)(const MappedFile& file, IndexedPart& out);

Status Merge(const MappedFile& file, std::vector<IndexedPart>& parts, ReadPart read,
             FileIndex& index) {
  size_t cases = 0;
  for (const IndexedPart& part : parts) cases += part.cases.size();
  index.entries.reserve(cases);
  index.by_name.reserve(cases);
  Merger merger(file, index);
  size_t expected = 0;
  for (IndexedPart& part : parts) {
    // The part before went beyond this one.
    if (expected >= part.part.stop || (expected > 0 && expected >= file.bytes().size())) continue;
    if (part.part.begin != expected && &part != &parts.front()) {
      const size_t stop = part.part.stop;
      part = IndexedPart{};
      part.part = {expected, stop};
      read(file, part);
    }
    KERF_RETURN_IF_ERROR(part.status);
    merger.Add(part);
    expected = part.end;
    part.cases = {};
  }
  index.problems.SortByOffset();
  return {};
}

}  // namespace

Status ReadIndexes(const MappedFile& jsonl, const MappedFile* mem, FileIndex& from_jsonl,
                   FileIndex& from_mem, size_t part_bytes) {
  std::vector<IndexedPart> jsonl_parts = CutFile(jsonl, true, part_bytes);
  std::vector<IndexedPart> mem_parts;
  if (mem != nullptr) mem_parts = CutFile(*mem, false, part_bytes);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < mem_parts.size() + jsonl_parts.size(); i = next++) {
      if (i < mem_parts.size()) {
        ReadMemPart(*mem, mem_parts[i]);
      } else {
        ReadJsonlPart(jsonl, jsonl_parts[i - mem_parts.size()]);
      }
    }
  };
  const size_t wanted = std::min<size_t>(8, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(wanted, mem_parts.size() + jsonl_parts.size()); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (mem == nullptr) return Merge(jsonl, jsonl_parts, ReadJsonlPart, from_jsonl);
  Status merged_mem;
  std::thread merging([&] { merged_mem = Merge(*mem, mem_parts, ReadMemPart, from_mem); });
  Status merged_jsonl = Merge(jsonl, jsonl_parts, ReadJsonlPart, from_jsonl);
  merging.join();
  KERF_RETURN_IF_ERROR(merged_mem);
  return merged_jsonl;
}

}  // namespace kerf::dataset
