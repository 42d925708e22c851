// The searchable texts of a step, in four parts.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::trace {

// In the order in which a match is preferred: the answer before the question that contains half the
// history.
enum class Part { kResult, kLog, kReasoning, kPrompt };
inline constexpr std::array<Part, 4> kAllParts = {Part::kResult, Part::kLog, Part::kReasoning,
                                                  Part::kPrompt};
const char* PartName(
    Part part);  // "result", "log", "reasoning", "prompt": also the names in a query

// Of every file only this much is searched: a runaway reply must not cost its size in memory.
inline constexpr uint64_t kSearchedBytes = uint64_t{4} << 20;

// Where the text of one file begins in the text of its part.
struct PartFile {
  size_t begin = 0;
  std::string name;
};

struct PartText {
  std::string text;
  std::vector<PartFile> files;
  std::optional<Error> failure;  // of a file that could not be read
};

// The files of one part, one after the other. `names` are relative to the operator's folder. A file
// that is gone or cannot be read counts as empty: the index tells what was recorded, `kerf trace
// check` tells what is damaged.
PartText ReadPart(FileSystem& fs, const std::string& op_dir, const std::vector<std::string>& names,
                  Part part);

}  // namespace kerf::trace
