#include "dataset/classify.h"

#include "base/file_system.h"
#include "dataset/json_scan.h"

namespace kerf::dataset {
namespace {

// `json` without white space that breaks lines outside of strings.
std::string OnOneLine(std::string_view json) {
  std::string line;
  line.reserve(json.size());
  for (size_t at = 0; at < json.size(); ++at) {
    if (json[at] == '"') {
      const size_t end = std::min(FindStringEnd(json, at + 1), json.size() - 1);
      line.append(json, at, end + 1 - at);
      at = end;
    } else if (json[at] != '\n' && json[at] != '\r') {
      line += json[at];
    }
  }
  return line;
}

}  // namespace

const char* ClassSuffix(LastStatus last) {
  switch (last) {
    case LastStatus::kCall:
      return "_compilation_failure";
    case LastStatus::kExe:
      return "_execution_failure";
    case LastStatus::kPerf:
      return "_performance_failure";
    case LastStatus::kSuccess:
      return "_success";
    case LastStatus::kUnknown:
      return nullptr;
  }
  return nullptr;
}

std::string ClassFileName(const std::string& jsonl_path, LastStatus last) {
  std::string stem = BaseName(jsonl_path);
  if (stem.ends_with(".jsonl")) stem.resize(stem.size() - 6);
  return stem + ClassSuffix(last) + ".jsonl";
}

std::string ClassLine(const CaseEntry& entry, const MappedFile& jsonl, bool full) {
  if (full) {
    const std::string_view record =
        jsonl.bytes().substr(entry.jsonl_begin, entry.jsonl_end - entry.jsonl_begin);
    return (record.find('\n') == std::string_view::npos ? std::string(record) : OnOneLine(record)) +
           "\n";
  }
  const JsonlRecord record = ReadJsonlOf(entry, jsonl);
  std::string line = "{";
  for (const auto& [name, value] : {std::pair("label", &record.label),
                                    {"filename", &record.name},
                                    {"test_code", &record.test_code}}) {
    if (value->kind == RawValue::Kind::kMissing) continue;
    line += (line.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": ";
    line += value->text() ? "\"" + std::string(value->raw) + "\"" : OnOneLine(value->raw);
  }
  return line + "}\n";
}

}  // namespace kerf::dataset
