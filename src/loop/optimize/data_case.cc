#include "loop/optimize/data_case.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "dataset/catalog.h"
#include "dataset/folder_names.h"
#include "dataset/language.h"
#include "dataset/text.h"

namespace kerf::optimize {
namespace {

using dataset::RawValue;

bool Has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

std::string TextOf(const RawValue& value) {
  return value.text() ? dataset::Decoded(value.raw) : "";
}

// What the record has besides the members a pair has of its own.
std::vector<std::pair<std::string, std::string>> OtherMembers(std::string_view record) {
  static const std::set<std::string_view> kOwn = {"instruction", "label",     "filename", "file",
                                                  "predict",     "test_code", "speedup"};
  std::vector<std::pair<std::string, std::string>> others;
  dataset::RecordCursor cursor(record);
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    const RawValue value = cursor.Read();
    if (!cursor.ok() || kOwn.count(key) != 0) continue;
    std::string raw(value.raw);
    if (value.text()) raw = '"' + raw + '"';
    const bool number = value.kind == RawValue::Kind::kNumber;
    if (number && !dataset::NumberOf(value).has_value()) raw = "null";  // NaN and infinities
    others.emplace_back(dataset::Decoded(key), std::move(raw));
  }
  return others;
}

// Names that mean something else in a trace (docs/formats/trace.md).
std::string FolderOf(const std::string& name, dataset::FolderNames& folders) {
  static const std::set<std::string> kTaken = {"journal.jsonl", "verification_results.jsonl",
                                               "failed_calls.jsonl", "passed_cases"};
  const std::string safe = dataset::SafeFolderName(name);
  return folders.Next(kTaken.count(safe) != 0 ? "_" + safe : name);
}

Case MakeCase(const dataset::CaseEntry& entry, const dataset::MappedFile& jsonl,
              const dataset::MappedFile* mem, dataset::FolderNames& folders) {
  const dataset::JsonlRecord record = ReadJsonlOf(entry, jsonl);
  Case one;
  one.name = entry.name;
  one.named_by_file = record.named_by_file;
  one.folder = FolderOf(entry.name, folders);
  one.instruction = TextOf(record.instruction);
  one.label = TextOf(record.label);
  one.predict = TextOf(record.predict);
  one.test_code = TextOf(record.test_code);
  one.oneshot = one.label;
  one.others =
      OtherMembers(jsonl.bytes().substr(entry.jsonl_begin, entry.jsonl_end - entry.jsonl_begin));
  if (mem != nullptr && entry.has_mem()) {
    const dataset::MemRecord log = ReadMemOf(entry, *mem);
    if (log.oneshot.text()) one.oneshot = TextOf(log.oneshot);
  }
  return one;
}

// From "def" to the colon behind its parentheses; empty when it has none.
std::string SignatureAt(const std::string& source, size_t at) {
  int depth = 0;
  for (size_t i = at; i < source.size(); ++i) {
    const char c = source[i];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c != ':' || depth != 0) continue;
    std::string text;
    for (const char each : source.substr(at, i - at)) {
      const char plain = each == '\n' || each == '\t' || each == '\r' ? ' ' : each;
      if (plain == ' ' && text.ends_with(' ')) continue;
      text += plain;
    }
    return text;
  }
  return "";
}

}  // namespace

bool Case::is_task() const { return Has(label, "class Model") && Has(label, "def get_inputs"); }

Impl Case::GuessImpl() const {
  const dataset::Language language = dataset::DetectLanguage(predict);
  if (dataset::IsCpp(language)) return Impl::kTorchExt;
  if (dataset::IsPython(language)) return Impl::kTriton;
  const bool cpp = Has(instruction, "PYBIND11") || Has(instruction, "HIP") ||
                   Has(instruction, "__global__") || Has(instruction, "torch/extension");
  return cpp ? Impl::kTorchExt : Impl::kTriton;
}

Result<DataSet> ReadDataSet(const std::string& jsonl_path, const std::string& mem_path) {
  KERF_ASSIGN_OR_RETURN(const dataset::MappedFile jsonl, dataset::MappedFile::Open(jsonl_path));
  dataset::MappedFile mem;
  if (!mem_path.empty()) {
    KERF_ASSIGN_OR_RETURN(mem, dataset::MappedFile::Open(mem_path));
  }
  const dataset::MappedFile* log = mem_path.empty() ? nullptr : &mem;
  KERF_ASSIGN_OR_RETURN(const dataset::Catalog catalog, dataset::Catalog::Read(jsonl, log, {}));
  std::vector<const dataset::CaseEntry*> entries;
  for (const dataset::CaseEntry& entry : catalog.cases()) {
    if (entry.has_jsonl()) entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->jsonl_begin < b->jsonl_begin; });
  DataSet data;
  data.problems = catalog.problems();
  if (entries.empty()) {
    const auto& problems = data.problems.kept();
    return Corrupt("no case in " + jsonl_path +
                   (problems.empty() ? ": it is empty" : ": " + ProblemText(problems.front())));
  }
  dataset::FolderNames folders;
  for (const dataset::CaseEntry* entry : entries) {
    data.cases.push_back(MakeCase(*entry, jsonl, log, folders));
  }
  data.sha256 = Sha256Hex(std::string(jsonl.bytes()) + '\0' + std::string(mem.bytes()));
  return data;
}

std::string Signatures(const std::string& source) {
  std::string text;
  bool kernel = false;  // the lines above were decorators of one
  for (size_t at = 0; at < source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at);
    if (line.starts_with("@")) {
      kernel = kernel || Has(line, "triton.") || Has(line, "jit") || Has(line, "autotune");
    } else if (line.starts_with("def ")) {
      const std::string signature = kernel ? "" : SignatureAt(source, at);
      if (!signature.empty()) text += signature + "\n";
      kernel = false;
    } else if (line.starts_with("class ") || line.starts_with("import ")) {
      kernel = false;
    }
    at = end + 1;
  }
  return text;
}

}  // namespace kerf::optimize
