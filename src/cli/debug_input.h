// A data set as the `debug` verbs get it: a jsonl file, its mem file, and everything read from
// both.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "dataset/catalog.h"
#include "dataset/mapped_file.h"

namespace kerf::cli {

struct DebugInput {
  dataset::MappedFile jsonl;
  std::optional<dataset::MappedFile> mem;
  dataset::Catalog catalog;

  [[nodiscard]] const dataset::MappedFile* mem_file() const {
    return mem.has_value() ? &*mem : nullptr;
  }
};

// `mem_path` empty: by the rule of pairing. Without a mem file there are no flags: an error, unless
// `mem_optional`.
Result<DebugInput> ReadDebugInput(FileSystem& fs, const std::string& jsonl_path,
                                  const std::string& mem_path, bool mem_optional);

// Holds what a test calls against what code binds, as the verifier does.
dataset::SymbolCheck MakeSymbolCheck();

}  // namespace kerf::cli
