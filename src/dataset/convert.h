// Between GEAK's files and other tools' (docs/formats/dataset.md, Conversions). What the other side
// cannot hold is listed, never dropped in silence.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "dataset/catalog.h"

namespace kerf::dataset {

// What was left out, and in how many cases.
using Losses = std::map<std::string, uint64_t>;

// GEAK's two files as text. `mem` is empty when there is nothing to say in it.
struct GeakTexts {
  std::string jsonl;
  std::string mem;
  uint64_t cases = 0;
  Losses lost;
};

struct Exported {
  std::string text;
  uint64_t cases = 0;
  Losses lost;
};

// TritonBench's JSON: an array of {instruction, output, file, …}.
Result<GeakTexts> FromTritonBench(const MappedFile& file);
Exported ToTritonBench(const Catalog& catalog, const MappedFile& jsonl);

// KernelBench's results: {problem: {compiled, correctness, runtime, …} or a list of them}.
Result<GeakTexts> FromKernelBench(const MappedFile& file);
Exported ToKernelBench(const Catalog& catalog, const MappedFile& jsonl, const MappedFile* mem);

// A kerf trace: an operator for each case, its candidates as steps of a coder, its flags and errors
// as a step of the verifier.
Result<GeakTexts> FromTrace(FileSystem& fs, const std::string& path);
struct TracePorts {
  FileSystem& fs;
  Clock& clock;
  IdSource& ids;
};
Result<Exported> ToTrace(const Catalog& catalog, const MappedFile& jsonl, const MappedFile* mem,
                         const std::string& log_dir, const TracePorts& ports);

}  // namespace kerf::dataset
