// AIKG's verification_results.jsonl: indented JSON objects one after the other, despite its name.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/file_system.h"

namespace kerf::trace {

// (operator, task, step of the verify folder) → passed. Empty when there is no such file; what
// cannot be read is left out.
using VerificationResults = std::map<std::tuple<std::string, std::string, int64_t>, bool>;

VerificationResults ReadVerificationResults(FileSystem& fs, const std::string& run_path);

}  // namespace kerf::trace
