// case.json: what is known about a case (docs/formats/debug_workspace.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataset/case_files.h"
#include "dataset/performance.h"
#include "dataset/reproduce.h"

namespace kerf::dataset {

struct CaseFacts {
  const CaseEntry& entry;
  const CaseSources& sources;
  const JsonlRecord& jsonl;
  const MemRecord& mem;
  Schema mem_schema;
  Diagnosis diagnosis;
  Performance performance;
  Reproduction reproduction;
  std::string predict_is;  // "candidate_call_fix", …, "" when it equals none
};

// Indented, with a line feed at its end.
std::string CaseJson(const CaseFacts& facts, const CaseFolder& folder);

struct RecordedFile {
  std::string path;
  uint64_t bytes = 0;
  std::string sha256;
};
struct RecordedSource {
  std::string kind;  // "jsonl" or "mem"
  std::string path;
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string xxh3;
};
// What `debug check` and a second run need of a case.json.
struct RecordedCase {
  std::string name;
  std::vector<RecordedFile> files;
  std::vector<RecordedSource> sources;
};
// nullopt when the text is no case.json.
std::optional<RecordedCase> ReadCaseJson(std::string_view text);

// `json` with line breaks and two spaces for each level; short lists stay on a line.
std::string Indented(std::string_view json);

}  // namespace kerf::dataset
