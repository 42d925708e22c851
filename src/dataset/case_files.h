// Everything that goes into one case's folder, in memory (docs/formats/debug_workspace.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataset/catalog.h"
#include "dataset/language.h"
#include "dataset/mapped_file.h"

namespace kerf::dataset {

struct CaseFile {
  std::string path;  // "error_log.txt", "diffs/initial_to_call_fix.diff"
  std::string content;
  bool code = false;
  Language language = Language::kUnknown;  // of code
};

// Lines [a_begin, a_end) of one file became [b_begin, b_end) of the other.
struct DiffSpan {
  size_t a_begin = 0;
  size_t a_end = 0;
  size_t b_begin = 0;
  size_t b_end = 0;
};

struct CaseDiff {
  size_t from = 0;  // places in `files`
  size_t to = 0;
  std::vector<DiffSpan> spans;
};

struct CaseFolder {
  std::string folder;
  std::vector<CaseFile> files;  // the documented ones first; case.json is the last
  std::vector<CaseDiff> diffs;
  std::vector<std::string> notes;

  [[nodiscard]] const CaseFile* Find(std::string_view path) const;
};

struct CaseSources {
  const MappedFile& jsonl;
  const MappedFile* mem;  // may be null
  Schema jsonl_schema;
};

struct CaseOptions {
  std::string extension;  // of code files, ".hip.cpp" or so; empty: by language
  SymbolCheck symbols;
};

// Reads the case's records and makes its files. Thread-safe.
CaseFolder MakeCase(const CaseEntry& entry, const std::string& folder, const CaseSources& sources,
                    const CaseOptions& options);

}  // namespace kerf::dataset
