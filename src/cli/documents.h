// The user's documents for prompts (docs_dir of the configuration).
#pragma once

#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "cli/config.h"

namespace kerf::cli {

// The texts of the role's folder, each under its name; empty when none is configured. Models are
// paid by the word: more than 256 KiB is refused.
Result<std::string> ReadDocuments(FileSystem& fs, const Config& config, const std::string& role);

}  // namespace kerf::cli
