// The words around a match, cut from the file they stand in.
#pragma once

#include <string>
#include <vector>

#include "trace/full_text.h"
#include "trace/search.h"

namespace kerf::trace {

// Fills in part, file and snippet of `hit`. `names` are the step's files, relative to `op_dir`.
void AddExcerpt(FileSystem& fs, const Words& words, const std::string& op_dir,
                const std::vector<std::string>& names, const MatchPlace& place, SearchHit& hit);

}  // namespace kerf::trace
